// Experiments that train runs and judge each once by test data: what their files have in common.
//
//   test = "mnist:test"          minutes = 30              machine = "one H200"
//   [config]     any option of a run         [[run]]  name, and options that override [config]
//                start = "NAME" of a run above: the run begins with that run's model
//   [[expected]] run, at_most, source; not of --quick
//   [quick]      minutes, machine and any option of a run, for --quick; it has the last word
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harmonium/experiments/training_experiment.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/run.h"

namespace harmonium {

// What a run is expected to come to, at most.
struct ErrorBound {
  std::string run, source;
  double at_most = 0;

  [[nodiscard]] std::string verdict(double found) const;  // "≤ 1.2: met"
};

struct JudgedRuns {
  std::string test;
  ExpectedTime time;
  std::vector<PlannedRun> runs;
  std::vector<ErrorBound> expected;

  // Null where nothing is expected of the run.
  [[nodiscard]] const ErrorBound* bound_of(const std::string& run) const;
};

// `config` is what [config] starts from.
[[nodiscard]] JudgedRuns parse_judged_runs(const ExperimentFile& file, bool quick, RunConfig config);

// One of the runs on its way; each kind of experiment adds what it finds the run to be worth.
struct ExperimentRun {
  std::string name;
  std::filesystem::path folder;
  RunConfig config;    // resolved
  double seconds = 0;  // of training
  const ErrorBound* expected = nullptr;
  std::string begun_with = {};  // the run it starts from, where there is one: resolved when that is trained

  // Whether `found` is what was expected; empty where nothing was.
  [[nodiscard]] std::string verdict_of(double found) const {
    return expected == nullptr ? "" : expected->verdict(found);
  }
  [[nodiscard]] std::string layers() const { return config.layers == "none" ? config.hidden : config.layers; }
};

// `Run` is an ExperimentRun and more. Everything that can be wrong with configurations shows here.
template <class Run>
[[nodiscard]] std::vector<Run> prepare_runs(const JudgedRuns& experiment, const std::filesystem::path& out) {
  std::vector<Run> runs;
  std::vector<std::string> names;
  for (const PlannedRun& planned : experiment.runs) {
    Run run;
    run.name = planned.name;
    run.folder = out / planned.name;
    run.config = planned.config;
    run.expected = experiment.bound_of(planned.name);
    if (begin_with_run_above(run.config, names, out)) {
      run.begun_with = planned.config.start;
    } else {
      check_config(run.config, resolve(run.config));
    }
    names.push_back(run.name);
    runs.push_back(std::move(run));
  }
  return runs;
}

// Says what is asked and how long it will take, and lets Ctrl-C save from here on.
void begin_experiment(const ExperimentFile& file, const ReproduceOptions& options, const ExpectedTime& time);

// Trains the run, number `place` (from 0) of `count`, unless that is done; false where it was interrupted.
[[nodiscard]] bool train_if_needed(ExperimentRun& run, std::size_t place, std::size_t count,
                                   const SessionOptions& common);

}  // namespace harmonium
