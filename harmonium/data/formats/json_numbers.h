// Whole numbers of JSON that somebody else may have written.
//
// nlohmann::json turns 4.6e25 into an integer without a word, and what comes out is undefined.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace harmonium {

// Throws nlohmann's own exception for a value of another type, so that readers handle both alike. Numbers written as
// 1e3 or 20.0 are whole.
template <std::integral Whole = std::int64_t, class Json>
[[nodiscard]] Whole whole_number(const Json& value) {
  const auto refuse = [&](const std::string& why) {
    throw nlohmann::json::type_error::create(302, value.dump() + " is " + why, nullptr);
  };
  if (value.is_number_float()) {
    const double number = value.template get<double>();
    // Both ends are powers of two, so these comparisons are exact.
    const double end = std::ldexp(1.0, std::numeric_limits<Whole>::digits);
    const double begin = std::is_signed_v<Whole> ? -end : 0;
    if (!(number >= begin && number < end)) refuse("too large a number");
    if (number != std::floor(number)) refuse("not a whole number");
    return static_cast<Whole>(number);
  }
  if (value.is_number_unsigned()) {
    if (!std::in_range<Whole>(value.template get<std::uint64_t>())) refuse("too large a number");
  } else if (!value.is_number_integer() || !std::in_range<Whole>(value.template get<std::int64_t>())) {
    refuse("not a whole number, or not in range");
  }
  return value.template get<Whole>();
}

template <class Json>
[[nodiscard]] std::vector<std::int64_t> whole_numbers(const Json& list) {
  if (!list.is_array()) throw nlohmann::json::type_error::create(302, "numbers are not in a list", nullptr);
  std::vector<std::int64_t> numbers;
  numbers.reserve(list.size());
  for (const auto& each : list) numbers.push_back(whole_number(each));
  return numbers;
}

}  // namespace harmonium
