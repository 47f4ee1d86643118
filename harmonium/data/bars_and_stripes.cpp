#include "harmonium/data/bars_and_stripes.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/draws.h"

namespace harmonium {

namespace {

std::int64_t pattern_count(std::int64_t side) { return (std::int64_t{2} << side) - 2; }

// Patterns 0 … 2ⁿ−1 are the stripes with that row code; the rest are the bars with codes 1 … 2ⁿ−2.
void draw_pattern(std::int64_t pattern, std::int64_t side, std::uint8_t* picture) {
  const bool stripes = pattern < std::int64_t{1} << side;
  const std::int64_t code = stripes ? pattern : pattern - (std::int64_t{1} << side) + 1;
  for (std::int64_t row = 0; row < side; ++row)
    for (std::int64_t column = 0; column < side; ++column)
      picture[row * side + column] = static_cast<std::uint8_t>(code >> (stripes ? row : column) & 1);
}

template <class ChoosePattern>
Dataset make_bars_and_stripes(std::int64_t rows, std::int64_t side, ChoosePattern choose_pattern) {
  Dataset data{
      .name = "bars_and_stripes", .values = at::empty({rows, side * side}, at::kByte), .image = ImageShape{side, side}};
  auto* picture = data.values.data_ptr<std::uint8_t>();
  for (std::int64_t row = 0; row < rows; ++row, picture += side * side)
    draw_pattern(choose_pattern(row), side, picture);
  return data;
}

void check(const BarsAndStripesOptions& options) {
  require(options.side >= 1 && options.side <= 16, "bars_and_stripes: the side must be 1 to 16 pixels, not {}",
          options.side);
}

}  // namespace

Dataset bars_and_stripes(const BarsAndStripesOptions& options) {
  check(options);
  return make_bars_and_stripes(pattern_count(options.side), options.side, [](std::int64_t row) { return row; });
}

Dataset bars_and_stripes(std::int64_t rows, const Key& key, const BarsAndStripesOptions& options) {
  check(options);
  require(rows >= 0, "bars_and_stripes: cannot draw {} rows", rows);
  return make_bars_and_stripes(rows, options.side, [&, count = pattern_count(options.side)](std::int64_t row) {
    return Draws(key.fold_in(static_cast<std::uint64_t>(row))).below(count);
  });
}

double bars_and_stripes_entropy(const BarsAndStripesOptions& options) {
  check(options);
  return std::log(static_cast<double>(pattern_count(options.side)));
}

}  // namespace harmonium
