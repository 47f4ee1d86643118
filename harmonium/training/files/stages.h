// Runs one after the other in sub-folders layer-1, layer-2, …, each on what the one before makes of the data.
//
// A stage that is finished is not done again, one that was stopped goes on.
#pragma once

#include <functional>

#include "harmonium/training/files/run.h"

namespace harmonium {

struct Stages {
  std::size_t count = 0;
  std::function<RunConfig(std::size_t stage)> config;  // resolved
  // What the model that a stage left in `folder` makes of the data it has learnt.
  std::function<RunData(const std::filesystem::path& folder, const RunData& seen)> encode;
  std::int64_t updates = 0;  // of each stage
};

[[nodiscard]] std::filesystem::path stage_folder(const std::filesystem::path& folder, std::size_t stage);

// Seconds of training that a finished run's metrics tell of, those of its stages and of its pretraining included.
[[nodiscard]] double seconds_of_run(const std::filesystem::path& folder);

// The result counts updates and seconds of all stages; metrics are those of the last. `config_text` writes a stage's
// configuration.
[[nodiscard]] RunResult run_stages(const std::filesystem::path& folder, const Stages& stages,
                                   const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
