// Files of one JSON object a line, such as a run folder keeps of what was found about its model.
//
// A damaged line (a bad sector, zeros after a power cut) costs that line and no more: it is left out in reading, and
// where the file is written again it moves to NAME.damaged beside it. damaged_records() (runs/damaged_records.h) tells.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harmonium/core/atomic_file.h"

namespace harmonium {

struct DamagedLine {
  int number = 0;  // from 1
  std::string text, reason;
};

template <class Value>
struct JsonLines {
  std::vector<Value> values;
  std::vector<std::string> texts;  // the lines of the values, as they are
  std::vector<DamagedLine> damaged;
};

template <class Parse>
[[nodiscard]] auto parse_json_lines(const std::string& text, Parse&& parse) {
  JsonLines<decltype(parse(nlohmann::ordered_json()))> all;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      all.values.push_back(parse(nlohmann::ordered_json::parse(line)));
      all.texts.push_back(line);
    } catch (const std::exception& error) {
      all.damaged.push_back({number, line, error.what()});
    }
  }
  return all;
}

// Nothing where there is no file.
template <class Parse>
[[nodiscard]] auto read_json_lines(const std::filesystem::path& path, Parse&& parse) {
  return parse_json_lines(std::filesystem::exists(path) ? read_file(path) : std::string(), parse);
}

// Appends the lines to NAME.damaged beside the file.
void keep_aside(const std::filesystem::path& path, const std::vector<DamagedLine>& lines);

// Held while a file is read and written again, so that two who judge one run at once lose no answer. Locks on folders
// need no file of their own and end with the process.
class RecordLock {
 public:
  explicit RecordLock(const std::filesystem::path& folder);
  ~RecordLock();
  RecordLock(const RecordLock&) = delete;
  RecordLock& operator=(const RecordLock&) = delete;

 private:
  int handle_;
};

// Reads all values, has change(values) do something to them, and writes `to_json` of each, at once or not at all.
template <class Parse, class Change>
void change_json_lines(const std::filesystem::path& path, Parse&& parse, Change&& change) {
  const RecordLock lock(path.parent_path());
  auto all = read_json_lines(path, parse);
  change(all.values);
  std::string text;
  for (const auto& each : all.values) text += to_json(each).dump() + "\n";
  keep_aside(path, all.damaged);
  write_file_atomically(path, text);
}

}  // namespace harmonium
