// The model of a run, whether the run has ended or not.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/families/model.h"

namespace harmonium {

struct OpenedRun {
  std::unique_ptr<Model> model;
  std::vector<std::string> remarks;  // what a person should know: it is unfinished, a file is damaged
};

// `path` is whatever open_model() takes. Of a run folder without a final model, the model is the one that the run would
// keep if it ended at its newest checkpoint: the averaged one, or the best so far where the run keeps the best. Its
// note "unfinished" says "update 2871 of 10000". That needs the data of the run. Half-written files that killed
// processes have left in the folder are removed.
[[nodiscard]] OpenedRun open_run(const std::filesystem::path& path);

}  // namespace harmonium
