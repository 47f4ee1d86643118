// Judging models by data: what `evaluate` and `reproduce` share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harmonium/cli/command.h"
#include "harmonium/cli/estimation.h"
#include "harmonium/cli/evaluate_model.h"  // IWYU pragma: export
#include "harmonium/core/error.h"
#include "harmonium/training/files/evaluation.h"
#include "harmonium/training/files/folder_journal.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

struct JudgeOptions {
  EstimationOptions estimation;
  TestDataOptions data;
};

// Thrown where Ctrl-C stops an estimate. What was done so far is in its journal.
struct Interrupted : RunFailure {
  using RunFailure::RunFailure;
};

// What was found, and the journal it was found with: told when the answer is safe, it forgets.
struct JournaledFindings {
  Findings findings;
  std::optional<FolderJournal> journal;

  void recorded() {
    if (journal) journal->finish();
  }
};

// Finds log Z by the method asked for, with bars; unfinished work is kept beside a run, or in the user's cache folder.
// `path` is the run folder or model file; `doing` follows the name of a bar (" 2 of 9").
[[nodiscard]] JournaledFindings find_with_bars(const std::filesystem::path& path, const Model& model,
                                               const TestData* test, const EstimationOptions& options,
                                               const CommonOptions& common, const std::string& doing = "");

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
