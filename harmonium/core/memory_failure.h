// Memory that was not there: LibTorch says so by an error of its own, the standard library by std::bad_alloc.
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace harmonium {

// What to tell a person (options are marked, see error.h) where an exception means that memory ran out, on the CPU or
// on a device; nothing for any other.
[[nodiscard]] std::optional<std::string> memory_failure(const std::exception& error);

// "1.5 GB": powers of ten, two digits.
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace harmonium
