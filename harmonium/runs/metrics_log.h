// metrics.jsonl: one JSON object per line, in order of updates.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harmonium/runs/json_lines.h"

namespace harmonium {

struct MetricsRow {
  std::int64_t update = 0;
  double seconds = 0;  // of training
  std::map<std::string, double> values = {};
};

class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}
  // One whole line is appended; a line cut short by a crash is dropped by the next read.
  void append(const MetricsRow& row) const;
  // Returns when the lines so far are on disk. Nothing where there are none.
  void sync() const;
  // Rows so far, without damaged lines.
  [[nodiscard]] std::vector<MetricsRow> read() const;
  [[nodiscard]] std::vector<DamagedLine> damaged() const;
  // Forgets rows after `update`, which a resumed run will measure again. Damaged lines are kept aside.
  void truncate_after(std::int64_t update) const;

 private:
  std::filesystem::path path_;
};

}  // namespace harmonium
