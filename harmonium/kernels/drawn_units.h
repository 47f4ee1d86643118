// Binary units that are drawn block by block from the sums of their fields.
#pragma once

#include <mutex>

#include "harmonium/core/key.h"
#include "harmonium/kernels/binary_code.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {

class DrawnUnits {
 public:
  // The width is a multiple of 4: so many units share a block of random numbers.
  DrawnUnits(const Key& key, std::int64_t rows, std::int64_t width);

  // What draws units from first_column on, and counts those that are on.
  [[nodiscard]] LogisticDraw from(std::int64_t first_column, float* counts);
  // Adds the counts of so many units; any thread may.
  void add_counts(std::int64_t first_column, std::int64_t columns, const float* counts);
  [[nodiscard]] BinaryTable take() { return std::move(table_); }

 private:
  Key key_;
  BinaryTable table_;
  std::mutex adding_;
};

}  // namespace harmonium
