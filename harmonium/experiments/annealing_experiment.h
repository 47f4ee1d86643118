// Experiments of kind "annealing": one model, several numbers of β, several estimators, held against enumeration.
//
//   the model, one of:  [train] any option of a run | machine = "far_modes" | model = "reference/rbm_196x20.npz"
//   the data:     data = "digits:test", limit, binarize, shrink_images = 2 (means of 2×2 pixels);
//                 without `data`: `rows` exact draws of the model
//   estimates:    betas = [10, 100], methods = ["ais", "ma-ais", "raise", "reverse"], chains, knots, raise_rows,
//                 raise_chains, raise_from = "data" | "model" (exact draws), base = "data" | "uniform", gap = 0.5 (that
//                 bounds may differ by and agree), seed
//   [quick]       any of the above numbers and lists, for --quick
//   [[expected]]  betas, and: method with error_at_least, error_at_most (log-likelihood minus exact, nats);
//                 or, of AIS and RAISE together, gap_at_least, gap_at_most, verdict = "agree" | "differ"
#pragma once

#include <limits>

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/report/annealing_report.h"

namespace harmonium {

struct AnnealingExpectation {
  std::string method = {};  // empty: about the gap
  std::int64_t betas = 0;
  double at_least = -std::numeric_limits<double>::infinity(), at_most = std::numeric_limits<double>::infinity();
  std::string verdict = {}, source = {};

  [[nodiscard]] std::string in_words() const;  // "error from −0.5 to 0.5"
};

struct JudgedAnnealing {
  AnnealingExpectation expected;
  std::optional<double> measured;  // nothing where it was not
  bool met = false;
  [[nodiscard]] std::string outcome() const;   // "met", "MISSED", "not measured"
  [[nodiscard]] std::string sentence() const;  // "ais, 30 β: error +7.31, expected at least 5: met"
};

struct AnnealingExperiment {
  std::optional<RunConfig> train = std::nullopt;
  std::string machine, model, data, binarize = "auto", base = "data", raise_from = "data";
  std::int64_t limit = 0, shrink_images = 1, rows = 500;
  std::vector<std::int64_t> betas;
  std::vector<std::string> methods = {"ais", "raise"};
  std::int64_t chains = 100, knots = 9, raise_rows = 100, raise_chains = 5;
  double gap = 0.5;
  std::uint64_t seed = 0;
  std::vector<AnnealingExpectation> expected = {};
};

[[nodiscard]] AnnealingExperiment parse_annealing_experiment(const ExperimentFile& file, bool quick);

[[nodiscard]] std::vector<JudgedAnnealing> judge_expectations(const AnnealingStudy& study,
                                                              const std::vector<AnnealingExpectation>& expected);

}  // namespace harmonium
