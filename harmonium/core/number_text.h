// Numbers for people: a true minus sign, "∞", and "n/a" for NaN.
#pragma once

#include <string>

namespace harmonium {

[[nodiscard]] std::string fixed_number(double value, int decimals);
[[nodiscard]] std::string short_number(double value);  // five significant digits; whole numbers are never rounded

}  // namespace harmonium
