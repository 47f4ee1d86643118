#include "harmonium/runs/metrics_log.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

using nlohmann::json;

std::string encode(const MetricsRow& row) {
  json line = {{"update", row.update}, {"seconds", row.seconds}};
  for (const auto& [name, value] : row.values) line[name] = std::isfinite(value) ? json(value) : json(nullptr);
  return line.dump() + "\n";
}

}  // namespace

void MetricsLog::append(const MetricsRow& row) const {
  std::ofstream out(path_, std::ios::app | std::ios::binary);
  out << encode(row) << std::flush;
  if (!out) throw RunFailure(format("cannot append to {}: is the disk full?", path_.string()));
}

std::vector<MetricsRow> MetricsLog::read() const {
  std::vector<MetricsRow> rows;
  if (!std::filesystem::exists(path_)) return rows;
  const std::string text = read_file(path_);
  std::istringstream lines(text.substr(0, text.find_last_of('\n') + 1));
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    try {
      const json entry = json::parse(line);
      MetricsRow row{.update = entry.at("update"), .seconds = entry.at("seconds")};
      for (const auto& [name, value] : entry.items())
        if (name != "update" && name != "seconds" && value.is_number()) row.values[name] = value;
      rows.push_back(std::move(row));
    } catch (const json::exception& error) {
      fail("{}, line {}: not a line of metrics ({})", path_.string(), number, error.what());
    }
  }
  return rows;
}

void MetricsLog::truncate_after(std::int64_t update) const {
  std::string kept;
  for (const MetricsRow& row : read())
    if (row.update <= update) kept += encode(row);
  write_file_atomically(path_, kept);
}

}  // namespace harmonium
