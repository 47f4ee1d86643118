#include "harmonium/core/number_text.h"

#include <cmath>
#include <string_view>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

// The hyphen that formatting gives is too short for a sign: every '-' becomes U+2212, also in an exponent.
std::string with_minus_sign(std::string_view digits) {
  std::string text;
  for (const char c : digits) c == '-' ? text += "−" : text += c;
  return text;
}

std::string not_finite(double value) { return std::isnan(value) ? "n/a" : value > 0 ? "∞" : "−∞"; }

}  // namespace

std::string fixed_number(double value, int decimals) {
  if (!std::isfinite(value)) return not_finite(value);
  const std::string digits = format("{:.{}f}", value, decimals);
  // "-0.00" says nothing that "0.00" does not.
  const bool zero = digits.find_first_not_of("-0.") == std::string::npos;
  return with_minus_sign(zero ? format("{:.{}f}", 0.0, decimals) : digits);
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return not_finite(value);
  // A whole number (an update, a count) is never shown rounded.
  if (value == std::floor(value) && std::abs(value) < 1e9) return fixed_number(value, 0);
  return with_minus_sign(format("{:.5g}", value));
}

}  // namespace harmonium
