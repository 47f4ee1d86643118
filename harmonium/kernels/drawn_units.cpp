#include "harmonium/kernels/drawn_units.h"

#include "harmonium/core/error.h"

namespace harmonium {

DrawnUnits::DrawnUnits(const Key& key, std::int64_t rows, std::int64_t width)
    : key_(key),
      table_{.bits = BitTable(rows, width), .ones = std::vector<std::int64_t>(static_cast<std::size_t>(width))} {
  require(width % 4 == 0, "units are drawn by fours, which {} do not make", width);
}

LogisticDraw DrawnUnits::from(std::int64_t first_column, float* counts) {
  return {.key = key_.bits(),
          .width = table_.bits.columns,
          .first_column = first_column,
          .bits = table_.bits.row(0),
          .words = table_.bits.words,
          .counts = counts};
}

void DrawnUnits::add_counts(std::int64_t first_column, std::int64_t columns, const float* counts) {
  const std::scoped_lock lock(adding_);
  for (std::int64_t j = 0; j < columns; ++j)
    table_.ones[static_cast<std::size_t>(first_column + j)] += static_cast<std::int64_t>(counts[j]);
}

}  // namespace harmonium
