// The one exception the library throws for a caller's mistake or a bad file.
//
// A message says what was wrong, where (file, byte, row, line, tensor) and what to do about it; the tool prints it
// unchanged and exits with status 2. Mistakes of our own are asserts and internal logic_errors, never this.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "harmonium/core/format.h"

namespace harmonium {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A run that went wrong through no mistake in its input: divergence, a full disk. The tool exits with status 1.
class RunFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void fail(format_string<Args...> message, Args&&... args) {
  throw Error(format(message, std::forward<Args>(args)...));
}

template <class... Args>
void require(bool condition, format_string<Args...> message, Args&&... args) {
  if (!condition) [[unlikely]]
    throw Error(format(message, std::forward<Args>(args)...));
}

}  // namespace harmonium
