// A training run in a folder: config.toml, metrics.jsonl, checkpoint/, snapshots/, model.safetensors.
//
// A run can be stopped at any moment, by request or by force, and taken up again: it then ends with the same bytes in
// model.safetensors as one that was never stopped. Stages (families/family.h) are runs of their own in sub-folders: one
// that is finished is not done again, one that was stopped goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "harmonium/families/family.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/runs/run_identity.h"

namespace harmonium {

struct RunProgress {
  std::int64_t update = 0, total = 0;
  double seconds = 0;                            // of training so far, earlier sittings included
  double updates_per_second = 0;                 // lately
  const std::map<std::string, double>& metrics;  // the latest
};

struct RunHooks {
  std::function<bool()> stop_requested = [] { return false; };                   // asked after every update
  std::function<void(const RunProgress&)> progress = [](const RunProgress&) {};  // after every update
  std::function<void(const std::string&)> message = [](const std::string&) {};   // a sentence for a person
  std::function<void(const std::filesystem::path&)> snapshot = [](const std::filesystem::path&) {};  // once written
  AcceptedChanges accepted = {};  // since the checkpoint that a run goes on from
};

struct RunResult {
  std::int64_t updates = 0, total = 0;  // done, and to be done in what was under way
  double seconds = 0;
  bool finished = false;
  bool pretraining = false;   // was under way when the run was stopped
  std::int64_t kept = 0;      // the update of the model that was written, once finished
  std::int64_t unjudged = 0;  // models that were to be judged on the way and could not be
  std::map<std::string, double> metrics = {};
};

// How a configuration is written to config.toml.
using ConfigText = std::function<std::string(const RunConfig&)>;

// Trains in `folder` from its newest checkpoint, or from the start where there is none, and writes model.safetensors.
// `config` must be resolved; `prepared` is what check_config() has built for it, if anything. Holds the folder's lock.
// Fails where the checkpoint is of other data or another configuration than is accepted.
[[nodiscard]] RunResult run_training(const RunFolder& folder, const RunConfig& config, const ConfigText& config_text,
                                     const RunData& data, const RunHooks& hooks, PreparedRun prepared = {});

// Seconds of training that a finished run's metrics tell of, those of its stages included.
[[nodiscard]] double seconds_of_run(const RunFolder& folder);

}  // namespace harmonium
