#include "harmonium/data/shifter.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/draws.h"

namespace harmonium {

namespace {

constexpr std::int64_t shifts = 3;

void write_row(std::int64_t bits, std::int64_t shift, std::int64_t width, std::uint8_t* row) {
  const auto bit = [bits](std::int64_t i) { return static_cast<std::uint8_t>(bits >> i & 1); };
  for (std::int64_t i = 0; i < width; ++i) {
    row[i] = bit(i);
    // shift − 1 is −1, 0 or +1; a positive one moves bit i to place i + 1.
    row[width + (i + shift - 1 + width) % width] = bit(i);
  }
  for (std::int64_t s = 0; s < shifts; ++s) row[2 * width + s] = s == shift ? 1 : 0;
}

template <class ChoosePattern>
Dataset make_shifter(std::int64_t rows, std::int64_t width, ChoosePattern choose_pattern) {
  const std::int64_t columns = 2 * width + shifts;
  Dataset data{
      .name = "shifter", .values = at::empty({rows, columns}, at::kByte), .labels = at::empty({rows}, at::kLong)};
  auto* value = data.values.data_ptr<std::uint8_t>();
  auto* label = data.labels.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t pattern = choose_pattern(row), shift = pattern >> width;
    write_row(pattern & ((std::int64_t{1} << width) - 1), shift, width, value + row * columns);
    label[row] = shift;
  }
  return data;
}

void check(const ShifterOptions& options) {
  require(options.width >= 2 && options.width <= 16, "shifter: the width must be 2 to 16 bits, not {}", options.width);
}

}  // namespace

Dataset shifter(const ShifterOptions& options) {
  check(options);
  return make_shifter(shifts << options.width, options.width, [](std::int64_t row) { return row; });
}

Dataset shifter(std::int64_t rows, const Key& key, const ShifterOptions& options) {
  check(options);
  require(rows >= 0, "shifter: cannot draw {} rows", rows);
  return make_shifter(rows, options.width, [&](std::int64_t row) {
    return Draws(key.fold_in(static_cast<std::uint64_t>(row))).below(shifts << options.width);
  });
}

double shifter_entropy(const ShifterOptions& options) {
  check(options);
  return std::log(static_cast<double>(shifts << options.width));
}

}  // namespace harmonium
