// String formatting under one name: std::format where the standard library has it, {fmt} elsewhere.
#pragma once

#include <version>

#ifdef __cpp_lib_format
#include <format>
namespace harmonium {
using std::format;
using std::format_string;
}  // namespace harmonium
#else
#include <fmt/core.h>
#include <fmt/format.h>
namespace harmonium {
using fmt::format;
using fmt::format_string;
}  // namespace harmonium
#endif
