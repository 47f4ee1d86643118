// Experiments of kind "training": the same data learnt by several runs, each judged along its way.
//
//   test = "mnist:test"          train = "mnist:train"     train_limit = 10000     (train may be left out)
//   chains = 100                 betas = 10000             method = "auto"
//   minutes = 20                 machine = "two cores"     (about how long it all takes, and where)
//   [config]     any option of a run         [[run]]  name, and options that override [config]
//                start = "NAME" of a run above: the run begins with that run's model
//                judged = false: the run is trained for others to begin with, and not judged
//   [[expected]] run, updates (0: the model that is kept), value, tolerance, source, data (else: test)
//   [quick]      any of the above numbers and any option of a run, for --quick; it has the last word
#pragma once

#include <filesystem>
#include <optional>

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/report/comparison.h"
#include "harmonium/sessions/judge.h"

namespace harmonium {

struct PlannedRun {
  std::string name;
  RunConfig config;
  bool judged = true;
};

struct TrainingExperiment {
  std::string test, train, method = "auto";
  std::int64_t train_limit = 0, test_limit = 0, chains = 100, betas = 10'000;
  ExpectedTime time;
  std::vector<PlannedRun> runs;
  std::vector<Expectation> expected;

  [[nodiscard]] std::vector<JudgingData> judging_data() const;
  [[nodiscard]] JudgeOptions judge_options() const;
};

// One [[run]] of an experiment: its name, and `config` with what the table says otherwise.
[[nodiscard]] PlannedRun planned_run(const ExperimentFile& file, toml::table table, RunConfig config);

// Whether the run begins with the model of one that stands above it. Then `start` becomes the place of that model, and
// the rest of the configuration can be resolved only when it is there.
[[nodiscard]] bool begin_with_run_above(RunConfig& config, const std::vector<std::string>& above,
                                        const std::filesystem::path& out);

// Runs are trained where the command was told to compute.
void place_runs(std::vector<PlannedRun>& runs, const SessionOptions& common);

[[nodiscard]] TrainingExperiment parse_training_experiment(const ExperimentFile& file, bool quick);

// Says what it is about to do, trains what is not trained and judges what is not judged, in folders of options.out.
// Nothing where it was interrupted.
[[nodiscard]] std::optional<std::vector<ComparedRun>> train_and_judge(const ExperimentFile& file,
                                                                      const TrainingExperiment& experiment,
                                                                      const ReproduceOptions& options);

}  // namespace harmonium
