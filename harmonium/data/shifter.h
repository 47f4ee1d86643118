// The shifter: a task of third-order correlations, made to need hidden units (Hinton & Sejnowski, "Learning and
// relearning in Boltzmann machines", in Parallel Distributed Processing vol. 1, 1986, ch. 7).
//
// A row is  [ n random bits | the same bits shifted by s with wrap-around | 3 bits, one-hot for s = −1, 0, +1 ].
// Neither part alone says anything about another; all three together are certain. Bits are fair and s is uniform, so
// each of the 3·2ⁿ rows has the same probability and the entropy is ln 3 + n ln 2 nats. (The 1986 chapter lets the
// density of bits vary; fair bits keep the distribution uniform and known.) The label of a row is s + 1.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct ShifterOptions {
  std::int64_t width = 8;  // n, 2 … 16
};

// Every row once: by shift, then by the code of the bits.
[[nodiscard]] Dataset shifter(const ShifterOptions& options = {});
// Independent draws; row r depends on the key and r alone.
[[nodiscard]] Dataset shifter(std::int64_t rows, const Key& key, const ShifterOptions& options = {});
// Nats.
[[nodiscard]] double shifter_entropy(const ShifterOptions& options = {});

}  // namespace harmonium
