// Judging models by data: what `evaluate` and `reproduce` share.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/likelihood/judging.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/folder_journal.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct JudgeOptions {
  EstimationOptions estimation;
  TestDataOptions data;
  bool allow_trained_rows = true;  // else data called test or valid that were trained on are refused
};

// Opens data for a model, read as its run read its own where nothing else is given, and looks for rows that the model
// has learnt from.
[[nodiscard]] TestData open_judging_data(const std::filesystem::path& path, const JudgingData& data,
                                         const JudgeOptions& options, const Model& model);

// Thrown where Ctrl-C stops an estimate. What was done so far is in its journal.
struct Interrupted : RunFailure {
  using RunFailure::RunFailure;
};

// Answers, and the journal they were found with: told when they are safe, it forgets.
struct JournaledAnswers {
  std::vector<Evaluation> answers;
  std::optional<FolderJournal> journal;

  void recorded() {
    if (journal) journal->finish();
  }
  // The exit code: 1, with a sentence on standard error, where unfinished work could not be kept on the way.
  [[nodiscard]] int tell_trouble() const;
};

// Judges a model by all of `tests` (none: log Z alone) with bars; unfinished work is kept beside a run, or in the
// user's cache folder. `path` is the run folder or model file; `doing` follows the name of a bar (" 2 of 9"). Fails,
// saying what the model can do instead, where it has no likelihood.
[[nodiscard]] JournaledAnswers judge_with_bars(const std::filesystem::path& path, const Model& model,
                                               const std::vector<const TestData*>& tests,
                                               const EstimationOptions& options, const SessionOptions& session,
                                               const std::string& doing = "");

// Judges every snapshot of a run and its final model by all `data`, one log Z for each model, and records the answers;
// what is answered already in the same way is not asked again. May be interrupted at any moment and called again.
struct JudgedRun {
  std::int64_t asked = 0, known = 0;    // models
  bool recorded = true;                 // false where an answer could not be recorded, which was said
  std::vector<Evaluation> evaluations;  // of all of them, in order of updates
};
JudgedRun judge_run(const std::filesystem::path& folder, const std::vector<JudgingData>& data,
                    const JudgeOptions& options, const SessionOptions& session);

// For who judges one model of a run at a time and without a bar: the answer on record, if any, and a new one.
[[nodiscard]] std::optional<Evaluation> recorded_answer(const std::filesystem::path& folder, const Model& model,
                                                        const TestData& test, const JudgeOptions& options);
[[nodiscard]] Evaluation judge_quietly(const std::filesystem::path& path, const Model& model, const TestData& test,
                                       const JudgeOptions& options, const Progress& progress);

// "−21.3 nats [−21.5, −21.1] estimate" for the terminal.
[[nodiscard]] std::string in_words(const Estimate& estimate);
// The log-likelihood of an answer, or its bracket where it is not trusted.
[[nodiscard]] std::string log_likelihood_in_words(const Evaluation& evaluation);

// ", averaged over 5 draws, spread 0.03 nats"; nothing for one draw.
[[nodiscard]] std::string draws_in_words(const Evaluation& evaluation);

}  // namespace harmonium
