// Judging models by data: what `evaluate` and `reproduce` share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harmonium/cli/command.h"
#include "harmonium/core/error.h"
#include "harmonium/data/dataset.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/training/files/evaluation.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

struct JudgeOptions {
  std::string method = "auto", binarize = "auto", label_column = "none";
  AisOptions ais;
  int draws = 1;  // of a stochastic binarization, with seeds ais.seed, ais.seed + 1, …
};

// Data to judge by, as the user names them, and how many of their rows (0: all).
struct JudgingData {
  std::string spec;
  std::int64_t limit = 0;
};

// The same, opened for models of one structure.
struct TestData {
  std::string spec;
  State state;
  std::int64_t rows = 0;
  std::string binarization;
  int draws = 1;
  Dataset gray = {};  // what draws after the first, which is `state`, are made of
  std::uint64_t seed = 0;
};
[[nodiscard]] TestData open_test_data(const JudgingData& data, const JudgeOptions& options,
                                      const BoltzmannMachine& machine);

// Thrown where Ctrl-C stops an estimate: nothing of it is kept.
struct Interrupted : RunFailure {
  using RunFailure::RunFailure;
};

// By the method asked for, with a bar. `test` may be null; it gives base rates where the model knows none.
[[nodiscard]] Estimate estimate_log_z(const Model& model, const TestData* test, const JudgeOptions& options,
                                      const CommonOptions& common, const std::string& doing = "");

// Mean log f over the rows of each draw. One draw is in memory at a time.
[[nodiscard]] std::vector<double> mean_log_unnormalized(const BoltzmannMachine& machine, const TestData& test);

// The evaluation of a model given its log Z; without `test`: of log Z alone.
[[nodiscard]] Evaluation evaluate_model(const std::string& path, const Model& model, const TestData* test,
                                        const Estimate& log_z);

// Judges every snapshot of a run and its final model by all `data`, one log Z for each model, and records the answers;
// what is answered already in the same way is not asked again. May be interrupted at any moment and called again.
struct JudgedRun {
  std::int64_t asked = 0, known = 0;    // models
  std::vector<Evaluation> evaluations;  // of all of them, in order of updates
};
JudgedRun judge_run(const std::filesystem::path& folder, const std::vector<JudgingData>& data,
                    const JudgeOptions& options, const CommonOptions& common);

// For who judges one model of a run at a time and without a bar: the answer on record, if any, and a new one.
[[nodiscard]] std::optional<Evaluation> recorded_answer(const std::filesystem::path& folder, const Model& model,
                                                        const TestData& test, const JudgeOptions& options);
[[nodiscard]] Evaluation judge_quietly(const std::filesystem::path& path, const Model& model, const TestData& test,
                                       const JudgeOptions& options, const Progress& progress);

// "−21.3 nats [−21.5, −21.1] estimate" for the terminal.
[[nodiscard]] std::string in_words(const Estimate& estimate);

// ", averaged over 5 draws, spread 0.03 nats"; nothing for one draw.
[[nodiscard]] std::string draws_in_words(const Evaluation& evaluation);

[[nodiscard]] bool is_run_folder(const std::filesystem::path& folder);

}  // namespace harmonium::cli
