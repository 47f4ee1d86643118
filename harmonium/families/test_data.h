// Data that models are judged by: opened, checked against a model and binarized by a protocol with a name.
#pragma once

#include <cstdint>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/units/unit.h"

namespace harmonium {

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

// The same, opened for models with the same visible units.
struct TestData {
  std::string spec;
  Dataset rows;              // binarized; of several draws the first
  std::string binarization;  // in words
  int draws = 1;
  Dataset gray = {};  // what draws after the first are made of
  std::uint64_t seed = 0;

  // Draw number 0 … draws − 1.
  [[nodiscard]] Dataset draw(int number) const;
};
[[nodiscard]] TestData open_test_data(const JudgingData& data, const TestDataOptions& options, const Unit& visible);
// The same of data that are open already; `spec` is their name.
[[nodiscard]] TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options,
                                      const Unit& visible);

}  // namespace harmonium
