// Whether results must be the fixtures' to the last bit: only where the same instructions compute them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/tool.h"

namespace harmonium::testing {

// Of the first processor.
inline std::map<std::string, std::string> read_processor() {
  std::map<std::string, std::string> fields;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t end = line.find_last_not_of(" \t", colon - 1), begin = line.find_first_not_of(' ', colon + 1);
    fields[line.substr(0, end + 1)] = begin == std::string::npos ? "" : line.substr(begin);
  }
  return fields;
}

// What is not as machine.json says, one after the other; empty where results must agree to the last bit.
//
// Kernels are chosen by the processor (our own, LibTorch's, OpenBLAS's and those of the C library), and each adds up in
// an order of its own. Another compiler or LibTorch may do so too, and so may the build with sanitizers.
inline std::string difference_from_machine(const nlohmann::json& made_on, const std::string& binary) {
  std::string found;
  const auto compare = [&](const std::string& what, const std::string& then, const std::string& now) {
    if (then != now) found += (found.empty() ? "" : "; ") + what + ": '" + now + "', not '" + then + "'";
  };
  const auto processor = read_processor();
  const auto field = [&](const std::string& name) { return processor.contains(name) ? processor.at(name) : ""; };
  for (const auto& [name, value] : made_on.at("processor").items()) compare(name, value, field(name));

  std::istringstream words(field("flags"));
  const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
  for (const std::string flag : made_on.at("flags"))
    if (!flags.contains(flag)) compare("processor flag", flag, "none");
  for (const auto& [name, value] : made_on.at("environment").items()) {
    const char* const now = std::getenv(name.c_str());
    compare(name, value, now == nullptr ? "" : now);
  }

  const std::string program = read_bytes(binary);
  const auto first = [&](const char* start, const char* pattern) -> std::string {
    for (std::size_t at = program.find(start); at != std::string::npos; at = program.find(start, at + 1)) {
      const std::string near = program.substr(at, 200), text = near.substr(0, near.find('\0'));
      if (std::smatch match;
          std::regex_search(text, match, std::regex(pattern), std::regex_constants::match_continuous))
        return match.str();
    }
    return "";
  };
  compare("LibTorch", made_on.at("torch"), first("libtorch_cpu.so", R"(libtorch_cpu\.so[.0-9]*)"));
  compare("compiler", made_on.at("compiler"), first("GCC: (", R"(GCC: \([^)]*\) [.0-9]+)"));
  compare("sanitizers", "", program.find("__asan_init") == std::string::npos ? "" : "address");
  return found;
}

}  // namespace harmonium::testing
