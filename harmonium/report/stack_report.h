// The report of a run that trained a stack of RBMs: curves of every stage, filters, and samples of its belief net.
#pragma once

#include <filesystem>

#include "harmonium/data/dataset.h"
#include "harmonium/report/report.h"

namespace harmonium {

[[nodiscard]] ReportContent stack_report(const std::filesystem::path& folder, const Dataset& train);

}  // namespace harmonium
