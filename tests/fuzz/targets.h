// Every fuzzer: its name, what it does with bytes, and whether they are a safetensors file (whose header is then
// changed as JSON, see header_mutator.h). An Error is the right answer to bad bytes; anything else that escapes,
// crashes, reads out of bounds or allocates without measure is a finding.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harmonium/core/error.h"

namespace harmonium {

struct FuzzTarget {
  std::string name;
  void (*run)(std::string_view bytes);
  bool safetensors = false;
};

[[nodiscard]] std::vector<FuzzTarget> format_targets();  // parsers.cpp
[[nodiscard]] std::vector<FuzzTarget> model_targets();   // models.cpp
[[nodiscard]] std::vector<FuzzTarget> record_targets();  // records.cpp
[[nodiscard]] std::vector<FuzzTarget> all_targets();

// Small valid files of every kind at FOLDER/<target>/<number>, where fuzzing starts.
void write_seeds(const std::filesystem::path& folder);

template <class F>
void allow_errors(F action) {
  try {
    action();
  } catch (const Error&) {
  }
}

// The same for what reads a file: every refusal must say which ("fuzz" is in its name).
template <class F>
void allow_named_errors(F action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.marked().find("fuzz") == std::string::npos) {
      __builtin_printf("the file is not named: %s\n", error.what());
      __builtin_trap();
    }
  }
}

}  // namespace harmonium
