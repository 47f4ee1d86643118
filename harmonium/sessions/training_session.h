// What `train` and `resume` have in common: the run with its bar, Ctrl-C, the report and the closing words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harmonium/runs/run.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

// The part of the data set that judges: its test part where it has one, else what the model was trained on.
// `train` are those rows, where they are open: only they tell what parts a file has.
[[nodiscard]] std::string judging_data(const std::string& spec, const Dataset* train = nullptr);

// Whether `folder` holds a run with this (resolved) configuration that has come to its end. Fails where it holds
// another run or other things.
[[nodiscard]] bool is_trained(const RunFolder& folder, const RunConfig& config);

// Data that a run of this (resolved) configuration has not learnt from: the validation data that were given, the test
// part of the data set, or its validation part; nothing where there are none.
[[nodiscard]] std::optional<std::string> held_out_data(const RunConfig& config, const Dataset& train);

// Trains, or goes on training, until the end or Ctrl-C. `config` must be resolved.
[[nodiscard]] RunResult train_with_bar(const RunFolder& folder, const RunConfig& config, const RunData& data,
                                       const SessionOptions& common, const std::string& label,
                                       PreparedRun prepared = {}, const AcceptedChanges& accepted = {});

// A new run: resolves and checks the configuration, makes the folder (where `out` is empty: runs/NAME-1, …), trains and
// reports. Returns the exit code.
int begin_run(RunConfig config, const std::string& out, bool overwrite, const SessionOptions& common);

// Trains as above, then the report and the closing words. Returns the exit code.
int run_and_report(const RunFolder& folder, const RunConfig& config, const RunData& data, const SessionOptions& common,
                   PreparedRun prepared = {}, const AcceptedChanges& accepted = {});

struct ResumeOptions {
  SessionOptions common;
  std::string folder;
  std::string device;                                  // empty: as the run began
  std::optional<std::int64_t> updates = std::nullopt;  // another length of the run
  bool finish = false;                                 // it ends at its last checkpoint
  bool accept_changed_data = false, accept_changed_config = false;
};
// Goes on with a run. Returns the exit code.
int resume_run(const ResumeOptions& options);

}  // namespace harmonium
