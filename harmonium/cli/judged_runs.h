// Experiments that train runs and judge each once by test data: what their files have in common.
//
//   test = "mnist:test"          minutes = 30              machine = "one H200"
//   [config]     any option of a run         [[run]]  name, and options that override [config]
//   [[expected]] run, at_most, source; not of --quick
//   [quick]      minutes, machine and any option of a run, for --quick; it has the last word
#pragma once

#include <string>
#include <vector>

#include "harmonium/cli/training_experiment.h"

namespace harmonium::cli {

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

}  // namespace harmonium::cli
