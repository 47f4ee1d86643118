#include "harmonium/report/html.h"

#include <cmath>
#include <nlohmann/json.hpp>

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

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string script_json(const nlohmann::json& value) {
  std::string safe;
  for (const char c : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

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
