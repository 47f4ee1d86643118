// Writes report.html of a run folder from what the folder holds now.
#pragma once

#include <filesystem>

#include "harmonium/families/model.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

// Returns the path of the report. Training data that have moved since are left out of it. `model` is the run's model
// where it is open already (on the CPU), else null.
std::filesystem::path refresh_report(const RunFolder& folder, const Model* model = nullptr);

}  // namespace harmonium
