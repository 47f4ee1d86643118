// Runs side by side: how good each was after so many updates and so many seconds of training.
//
// Log-likelihoods are put in one chart only where they can be compared: the same data set, the same protocol of
// binarization (protocols.h), and for each of its parts (train, test) the same number of rows. What differs gets a
// chart of its own that says so. Draws from different seeds are different series of one chart.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/report/report.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/metrics_log.h"

namespace harmonium {

struct ComparedRun {
  std::string name, folder;
  std::string optimizer;
  std::string watched;                  // what its metrics were measured on; metrics are compared where it is the same
  std::string judge_command;            // how to get likelihoods where there are none
  std::vector<Evaluation> evaluations;  // one per data, rows, binarization and updates; in order of these
  std::vector<MetricsRow> metrics;
};

// Evaluations and metrics of a run folder. Evaluations of the final model get its updates and seconds where they do not
// say; of several answers about the same rows the best one counts (see at_least_as_good).
[[nodiscard]] ComparedRun compared_run(const std::filesystem::path& folder, const std::string& name);

// A log-likelihood that somebody expects of a run.
struct Expectation {
  std::string run, data;
  std::int64_t updates = 0;  // 0: the model that the run keeps, whichever update it is of
  double value = 0, tolerance = 0;
  std::string source;
};

// Whether an answer of this run is the one that is expected.
[[nodiscard]] bool is_about(const Expectation& expected, const std::string& run, const Evaluation& evaluation);

struct Verdict {
  Expectation expected;
  std::optional<Evaluation> measured;  // nothing where the run was not judged there
  [[nodiscard]] double difference() const { return measured->log_likelihood->value - expected.value; }
  [[nodiscard]] bool met() const;  // measured, and within the tolerance
  // "fang, 1000 updates, mnist:test: −89.62, expected −89.5 ± 0.7, difference −0.12: within tolerance"
  [[nodiscard]] std::string sentence() const;
};

[[nodiscard]] std::vector<Verdict> verdicts(const std::vector<ComparedRun>& runs,
                                            const std::vector<Expectation>& expected);

// Against updates and against seconds for each group that can be compared; none where nothing was judged.
[[nodiscard]] std::vector<Chart> likelihood_charts(const std::vector<ComparedRun>& runs,
                                                   const std::vector<Expectation>& expected = {});

// The page. Title, subtitle and configuration may be changed afterwards.
[[nodiscard]] ReportContent comparison_report(const std::vector<ComparedRun>& runs,
                                              const std::vector<Expectation>& expected = {});

}  // namespace harmonium
