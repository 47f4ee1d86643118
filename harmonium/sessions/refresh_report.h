// Writes report.html of a run folder from what the folder holds now.
#pragma once

#include <filesystem>

#include "harmonium/families/model.h"

namespace harmonium {

// Returns the path of the report. Training data that have moved since are left out of it. `model` is the run's final
// model where it is open already (on the CPU), else null.
std::filesystem::path refresh_report(const std::filesystem::path& folder, const Model* model = nullptr);
// The same, unless the run has no final model yet.
void refresh_report_where_finished(const std::filesystem::path& folder);

}  // namespace harmonium
