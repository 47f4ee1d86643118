#include "harmonium/data/digits.h"

#include <string_view>

namespace harmonium {

namespace {

constexpr std::string_view lines[] = {
#include "harmonium/data/optdigits.inc"
};
constexpr std::int64_t digit_side = 8, digit_pixels = digit_side * digit_side, line_length = digit_pixels + 2;

constexpr bool lines_are_whole() {
  for (const std::string_view line : lines)
    if (line.size() != line_length) return false;
  return true;
}
static_assert(std::size(lines) == 1797 && lines_are_whole(), "data/digits/optdigits.txt is damaged");

constexpr std::uint64_t split_seed = 1998;
constexpr SplitSizes sizes_of_parts = {.train = 1297, .valid = 200, .test = 300};

}  // namespace

Dataset digits() {
  constexpr auto count = static_cast<std::int64_t>(std::size(lines));
  Dataset data{.name = "digits",
               .values = at::empty({count, digit_pixels}, at::kByte),
               .scale = 1.0 / 16,
               .labels = at::empty({count}, at::kLong),
               .image = ImageShape{digit_side, digit_side}};
  auto* value = data.values.data_ptr<std::uint8_t>();
  auto* label = data.labels.data_ptr<std::int64_t>();
  for (const std::string_view line : lines) {
    for (const char letter : line.substr(0, digit_pixels)) *value++ = static_cast<std::uint8_t>(letter - 'a');
    *label++ = line.back() - '0';
  }
  return data;
}

Split digits_split() { return split(digits(), sizes_of_parts, Key(split_seed)); }

}  // namespace harmonium
