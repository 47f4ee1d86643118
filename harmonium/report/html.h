// Text into HTML: escaping, numbers as a reader expects them, JSON that may stand inside a <script>.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace harmonium {

// Safe between tags and inside a quoted attribute.
[[nodiscard]] std::string escape_html(std::string_view text);

// JSON in ASCII without '<', '>' and '&', so that no text in it can end the <script> around it.
[[nodiscard]] std::string script_json(const nlohmann::json& value);

// A number for reading: a true minus sign, "∞", and "n/a" for NaN.
[[nodiscard]] std::string fixed_number(double value, int decimals);
[[nodiscard]] std::string short_number(double value);  // five significant digits

}  // namespace harmonium
