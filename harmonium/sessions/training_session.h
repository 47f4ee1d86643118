// What `train` and `resume` have in common: the run with its bar, Ctrl-C, the report and the closing words.
#pragma once

#include <filesystem>

#include "harmonium/runs/run.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

// The part of the data set that judges: its test part where it has one, else what the model was trained on.
[[nodiscard]] std::string judging_data(const std::string& spec);

// Whether `folder` holds a run with this (resolved) configuration that has come to its end. Fails where it holds
// another run or other things.
[[nodiscard]] bool is_trained(const std::filesystem::path& folder, const RunConfig& config);

// Trains, or goes on training, until the end or Ctrl-C. `config` must be resolved.
[[nodiscard]] RunResult train_with_bar(const std::filesystem::path& folder, const RunConfig& config,
                                       const RunData& data, const SessionOptions& common, const std::string& label,
                                       PreparedRun prepared = {});

// A new run: resolves and checks the configuration, makes the folder (where `out` is empty: runs/NAME-1, …), trains and
// reports. Returns the exit code.
int begin_run(RunConfig config, const std::string& out, bool overwrite, const SessionOptions& common);

// Trains as above, then the report and the closing words. Returns the exit code.
int run_and_report(const std::filesystem::path& folder, const RunConfig& config, const RunData& data,
                   const SessionOptions& common, PreparedRun prepared = {});

}  // namespace harmonium
