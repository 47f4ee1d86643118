// Files of one JSON object a line, such as a run folder keeps of what was found about its model.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

// Nothing where there is no file. A line that `parse` does not take is an error with its number; `advice` says what to
// do about it.
template <class Parse>
[[nodiscard]] auto read_json_lines(const std::filesystem::path& path, Parse&& parse, const std::string& advice) {
  std::vector<decltype(parse(nlohmann::ordered_json()))> all;
  if (!std::filesystem::exists(path)) return all;
  std::istringstream lines(read_file(path));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      all.push_back(parse(nlohmann::ordered_json::parse(line)));
    } catch (const std::exception& error) {
      fail("{}, line {}: {}; {}", path.string(), number, error.what(), advice);
    }
  }
  return all;
}

// `to_json` of every value, at once or not at all.
template <class Value>
void write_json_lines(const std::filesystem::path& path, const std::vector<Value>& all) {
  std::string text;
  for (const Value& each : all) text += to_json(each).dump() + "\n";
  write_file_atomically(path, text);
}

}  // namespace harmonium
