// Dividing a table into training, validation and test rows by a shuffle that a key alone decides.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct SplitSizes {
  std::int64_t train = 0, valid = 0, test = 0;
};

struct Split {
  Dataset train, valid, test;  // named "NAME:train", "NAME:valid" and "NAME:test"
};

// The first `train` cases (sequences, or rows: Dataset::cases) of permutation(key, cases) are for training, the next
// `valid` for validation, then `test`; those beyond the three sizes are left out. The parts own their rows and never
// overlap.
[[nodiscard]] Split split(const Dataset& data, const SplitSizes& sizes, const Key& key);

// Sizes for given shares: valid and test are rounded down, train gets the rest.
[[nodiscard]] SplitSizes split_sizes(std::int64_t rows, double valid_share, double test_share);

}  // namespace harmonium
