// The one exception the library throws for a caller's mistake or a bad file.
//
// A message says what was wrong, where (file, byte, row, line, tensor) and what to do about it. Options are named
// neutrally: "@rate_weights" in the text of a message stands for the option rate_weights, which the tool spells
// --rate-weights and Python as an argument. what() has the plain names, marked() what a front end spells
// (spell_options). Mistakes of our own are asserts and internal logic_errors, never this.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "harmonium/core/format.h"

namespace harmonium {

// Replaces every marked option, "@name" at the start of a word, by spelling("name").
[[nodiscard]] std::string spell_options(const std::string& text,
                                        const std::function<std::string(const std::string& name)>& spelling);
// The same with the names as they are.
[[nodiscard]] std::string plain_options(const std::string& text);

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text) : std::runtime_error(plain_options(text)), marked_(text) {}
  [[nodiscard]] const std::string& marked() const { return marked_; }

 private:
  std::string marked_;
};

// A run that went wrong through no mistake in its input: divergence, a full disk. The tool exits with status 1.
class RunFailure : public std::runtime_error {
 public:
  explicit RunFailure(const std::string& text) : std::runtime_error(plain_options(text)), marked_(text) {}
  [[nodiscard]] const std::string& marked() const { return marked_; }

 private:
  std::string marked_;
};

// A training that the settings have led astray. No machine's fault: the same settings would do it again.
class Diverged : public RunFailure {
 public:
  using RunFailure::RunFailure;
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
