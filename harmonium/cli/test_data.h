// Data that models are judged by: opened, checked against a model and binarized by a protocol with a name.
#pragma once

#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/likelihood/log_marginal.h"

namespace harmonium::cli {

// Data to judge by, as the user names them, and how many of their rows (0: all).
struct JudgingData {
  std::string spec;
  std::int64_t limit = 0;
};

struct TestDataOptions {
  std::string binarize = "auto", label_column = "none";
  int draws = 1;           // of a stochastic binarization, with seeds seed, seed + 1, …
  std::uint64_t seed = 0;  // of the first draw
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
[[nodiscard]] TestData open_test_data(const JudgingData& data, const TestDataOptions& options,
                                      const BoltzmannMachine& machine);
// The same of data that are open already; `spec` is their name.
[[nodiscard]] TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options,
                                      const BoltzmannMachine& machine);

// Mean log f over the rows of each draw, and how it was found: of all draws, the worst. One draw is in memory at a
// time.
struct MeanMarginal {
  std::vector<double> draws;
  LogMarginal how;  // without its numbers
};
[[nodiscard]] MeanMarginal mean_log_marginal(const BoltzmannMachine& machine, const TestData& test);

}  // namespace harmonium::cli
