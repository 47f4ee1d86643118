// For every row of bits, the sum of the rows of a matrix that they pick: the engine below products with binary states.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "harmonium/kernels/drawn_units.h"

namespace harmonium {

// How many bits had best pick together, from a table of all sums of so many rows: 1 (no table), 4 or 8. Fours pay where
// neighbouring bits come together, as pixels do; eights where many rows have about half their bits set. The answer
// depends on the bits alone.
[[nodiscard]] int cheapest_group(const BinaryCode& code);
// The same where columns of the code are to pick its rows.
[[nodiscard]] int cheapest_group_transposed(const BinaryCode& code);

struct PickedSums {
  BitTable bits;
  int group;
  const at::Tensor& matrix;
  const std::uint64_t* negated;       // rows of the matrix that count negatively; null: none
  bool all_in_base;                   // the base is the sum of all rows; else minus that of the negated ones, as copied
  std::vector<Factors> factors = {};  // of the base and the sum, for each row of the result; empty: all 1
  at::Tensor start = {};              // a row, or a table, that is added; it may be the result itself

  // Writes sums to `out` (undefined: not wanted) and draws units (null: none), whose number is a multiple of 4.
  void run(const at::Tensor& out, DrawnUnits* drawn = nullptr) const;

 private:
  void set_base(const float* copy, std::int64_t rows, float* base) const;
};

}  // namespace harmonium
