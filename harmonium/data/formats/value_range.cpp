#include "harmonium/data/formats/value_range.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr double largest_gray = 255, surely_gray = 127;

struct SeenValues {
  double least = std::numeric_limits<double>::infinity(), largest = -std::numeric_limits<double>::infinity();
  bool whole = true;
  std::int64_t missing = 0;

  [[nodiscard]] bool fit_bytes() const { return whole && least >= 0 && largest <= largest_gray; }
};

SeenValues look_at(const at::Tensor& table, const std::string& where) {
  SeenValues seen;
  if (table.scalar_type() == at::kByte) {
    const auto [least, largest] = at::aminmax(table);
    seen.least = least.item<double>();
    seen.largest = largest.item<double>();
    return seen;
  }
  const std::int64_t columns = table.size(1);
  std::vector<bool> has_value(static_cast<std::size_t>(columns), false);
  const float* values = table.data_ptr<float>();
  for (std::int64_t i = 0; i < table.numel(); ++i) {
    const float value = values[i];
    if (std::isnan(value)) {
      ++seen.missing;
      continue;
    }
    require(std::isfinite(value), "{}: row {}, column {}: {} is not a finite number (of single precision)", where,
            i / columns + 1, i % columns + 1, value);
    has_value[static_cast<std::size_t>(i % columns)] = true;
    seen.least = std::min<double>(seen.least, value);
    seen.largest = std::max<double>(seen.largest, value);
    seen.whole = seen.whole && value == std::trunc(value);
  }
  if (const auto empty = std::ranges::find(has_value, false); empty != has_value.end())
    fail("{}: column {} has no value in any row; leave it out (does every line end with a separator?)", where,
         empty - has_value.begin() + 1);
  return seen;
}

// 0: not a number.
double divisor_of(const std::string& scale) {
  double number = 0;
  const auto [end, code] = std::from_chars(scale.data(), scale.data() + scale.size(), number);
  return code == std::errc() && end == scale.data() + scale.size() && std::isfinite(number) ? number : 0;
}

}  // namespace

void set_range(Dataset& data, const std::string& where, const std::string& scale, bool gray_bytes) {
  const SeenValues seen = look_at(data.values, where);
  data.missing = seen.missing;
  if (seen.missing > 0)
    data.remarks.push_back(format("{} of {} values are missing", seen.missing, data.values.numel()));
  else if (seen.fit_bytes())
    data.values = data.values.to(at::kByte);

  const auto divide = [&](double by, const std::string& why) {
    data.scale = 1 / by;
    data.divided_by = by;
    if (by != 1) data.remarks.push_back(format("values divided by {}{}", by, why));
  };
  const std::string range = format("{} … {}", seen.least, seen.largest);
  if (scale == "none" || scale == "standardize") return;  // what standardizes is training
  if (scale == "max") {
    require(seen.largest > 0, "{}: @scale max: no value is above 0", where);
    divide(seen.largest, ", the largest");
    return;
  }
  if (scale != "auto") {
    const double by = divisor_of(scale);
    require(by > 0, "@scale {}: give a number above 0 to divide by, none, max, standardize or auto", scale);
    divide(by, "");
    return;
  }
  if (!seen.whole || (seen.least >= 0 && seen.largest <= 1)) return;
  if (seen.fit_bytes() && (gray_bytes || seen.largest > surely_gray))
    divide(largest_gray, format(": whole numbers {} are taken for gray values (@scale says otherwise)", range));
  else
    data.whole_numbers = true;
}

}  // namespace harmonium
