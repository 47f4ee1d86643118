// metrics.jsonl: one JSON object per line, in order of updates.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace harmonium {

struct MetricsRow {
  std::int64_t update = 0;
  double seconds = 0;  // of training
  std::map<std::string, double> values = {};
};

class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}
  // One whole line is appended and flushed; a line cut short by a crash is dropped by the next read.
  void append(const MetricsRow& row) const;
  // Rows so far; a damaged line in the middle is an error naming it.
  [[nodiscard]] std::vector<MetricsRow> read() const;
  // Forgets rows after `update`, which a resumed run will measure again.
  void truncate_after(std::int64_t update) const;

 private:
  std::filesystem::path path_;
};

}  // namespace harmonium
