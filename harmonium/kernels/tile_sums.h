// For every row of bits, the sum of the rows of a matrix that they pick, on matrix tiles (tile_loops.h): the engine
// below products with binary states where the processor has such tiles. What it costs does not depend on the bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "harmonium/kernels/drawn_units.h"
#include "harmonium/kernels/tile_loops.h"

namespace harmonium {

// The tiles to use for products with so many rows of bits; null where there are none, or other ways are faster.
[[nodiscard]] const TileLoops* tiles_for(std::int64_t rows);

// While one of these lives, the thread that made it makes digits of a lasting matrix once, for all its products with
// it: for many sweeps through one machine. Nobody may write to such a matrix meanwhile.
class KeptDigits {
 public:
  KeptDigits();
  ~KeptDigits();
  KeptDigits(const KeptDigits&) = delete;
  KeptDigits& operator=(const KeptDigits&) = delete;
};

struct TileSums {
  const TileLoops& loops;
  BitTable bits;
  const at::Tensor& matrix;  // float32, a row for each column of the bits
  bool lasting = false;      // whether its digits may be kept
  float factor = 1;          // of the sums
  at::Tensor start = {};     // a row, or a table, that is added; it may be the result itself

  // Writes sums to `out` (undefined: not wanted) and draws units (null: none), whose number is a multiple of 4.
  void run(const at::Tensor& out, DrawnUnits* drawn = nullptr) const;
};

}  // namespace harmonium
