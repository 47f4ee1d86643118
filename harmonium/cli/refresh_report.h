// Writes report.html of a run folder from what the folder holds now.
#pragma once

#include <filesystem>

namespace harmonium::cli {

// Returns the path of the report. Training data that have moved since are left out of it.
std::filesystem::path refresh_report(const std::filesystem::path& folder);
// The same, unless the run has no final model yet.
void refresh_report_where_finished(const std::filesystem::path& folder);

}  // namespace harmonium::cli
