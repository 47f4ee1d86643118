// Data that models are judged by: opened, checked against a model and binarized by a protocol with a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harmonium/data/reading.h"
#include "harmonium/data/row_digests.h"
#include "harmonium/units/unit.h"

namespace harmonium {

// Data to judge by, as the user names them, and how many of their rows (0: all).
struct JudgingData {
  std::string spec;
  std::int64_t limit = 0;
};

struct TestDataOptions {
  std::string binarize = "auto";  // see protocol_for() (families/real_values.h)
  Reading reading = {};
  bool missing_values = false;  // the model can sum them out
  int draws = 1;                // of bits or noise, with seeds seed, seed + 1, …
  std::uint64_t seed = 0;       // of the first draw
};

// The same, opened for models with the same visible units.
struct TestData {
  std::string spec;
  Dataset rows;              // binarized; of several draws the first
  std::string binarization;  // in words
  int draws = 1;
  Dataset gray = {};  // before binarization: what draws are made of, and known rows are found by
  Binarization protocol = Binarization::none;
  std::optional<RowsSeen> seen = std::nullopt;  // of them, those that the model has learnt from, where somebody looked
  std::uint64_t seed = 0;

  // Draw number 0 … draws − 1.
  [[nodiscard]] Dataset draw(int number) const;
};
// Columns of categories become what softmax units take; all else stays as it is.
[[nodiscard]] Dataset as_shown_to(const Unit& visible, Dataset data, const Reading& reading);
[[nodiscard]] TestData open_test_data(const JudgingData& data, const TestDataOptions& options, const Unit& visible);
// The same of data that are open already; `spec` is their name.
[[nodiscard]] TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options,
                                      const Unit& visible);

}  // namespace harmonium
