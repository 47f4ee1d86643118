// The report of a run folder: what was trained, how it went, what it looks like and how good it is.
#pragma once

#include <filesystem>

#include "harmonium/data/dataset.h"
#include "harmonium/families/model.h"
#include "harmonium/report/report.h"

namespace harmonium {

// Everything comes from the folder, except the pictures of data, which need `train` (may have no rows). `model` is the
// final model of the run where it is open already (on the CPU), else null.
[[nodiscard]] ReportContent run_report(const std::filesystem::path& folder, const Dataset& train,
                                       const Model* model = nullptr);

}  // namespace harmonium
