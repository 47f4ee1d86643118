// Which rows a model has learnt from, in half a megabyte at most: so that a test can be told from a memory.
//
// Every row becomes a 64-bit number, a hash of its stored values before scaling and binarization. The sorted distinct
// numbers are kept, of large sets the 65 536 smallest: a bottom-k sketch, whose members are a random sample of the
// distinct rows, because a hash is as good as a die.
//
// Equal rows alone prove nothing: answers to sixteen yes-no questions repeat by nature. How many rows of fresh data
// would equal a training row is known from the training rows themselves (Good and Turing, Biometrika 1953): the
// probability that the next row is one seen before is 1 − (rows that occur once)/(rows). What lies far beyond that was
// trained on.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

inline constexpr std::int64_t most_row_digests = 65'536;

// A hash of every row, in their order.
[[nodiscard]] std::vector<std::uint64_t> row_hashes(const Dataset& data);

struct RowDigests {
  std::int64_t rows = 0, once = 0;  // of the data; of those, how many equal no other
  bool whole = true;                // else `hashes` are the smallest only
  at::Tensor hashes;                // int64 (the bits of unsigned numbers), distinct, sorted as unsigned
  std::string source = {};          // what the data are called, where somebody noted it
};
[[nodiscard]] RowDigests digest_rows(const Dataset& data, std::int64_t most = most_row_digests);

struct RowsSeen {
  std::int64_t rows = 0, seen = 0;  // of the data that are judged by; of those, how many equal a training row
  bool estimated = false;           // `seen` is scaled up from the rows that the sketch can tell
  double expected = 0;              // how many would if they were fresh
  bool certain = false;             // they are a part of the very file that was learnt as a whole

  // Certain; or more than half of the rows that fresh data would not share, and four standard deviations more than
  // fresh data have.
  [[nodiscard]] bool trained_on() const;
};
[[nodiscard]] RowsSeen find_seen_rows(const RowDigests& trained, const Dataset& data);

}  // namespace harmonium
