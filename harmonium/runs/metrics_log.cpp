#include "harmonium/runs/metrics_log.h"

#include <cmath>

#include "harmonium/core/atomic_file.h"
#include "harmonium/data/formats/json_numbers.h"

namespace harmonium {

namespace {

using nlohmann::ordered_json;

std::string encode(const MetricsRow& row) {
  nlohmann::json line = {{"update", row.update}, {"seconds", row.seconds}};
  for (const auto& [name, value] : row.values)
    line[name] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  return line.dump() + "\n";
}

MetricsRow row_from_json(const ordered_json& entry) {
  MetricsRow row{.update = whole_number(entry.at("update")), .seconds = entry.at("seconds")};
  for (const auto& [name, value] : entry.items())
    if (name != "update" && name != "seconds" && value.is_number()) row.values[name] = value;
  return row;
}

// Without a line that a crash has cut short.
JsonLines<MetricsRow> read_lines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  const std::string text = read_file(path);
  return parse_json_lines(text.substr(0, text.find_last_of('\n') + 1), row_from_json);
}

}  // namespace

void MetricsLog::append(const MetricsRow& row) const { append_to_file(path_, encode(row)); }

void MetricsLog::sync() const {
  if (std::filesystem::exists(path_)) sync_file(path_);
}

std::vector<MetricsRow> MetricsLog::read() const { return read_lines(path_).values; }

std::vector<DamagedLine> MetricsLog::damaged() const { return read_lines(path_).damaged; }

void MetricsLog::truncate_after(std::int64_t update) const {
  const JsonLines<MetricsRow> lines = read_lines(path_);
  std::string kept;
  for (std::size_t i = 0; i < lines.values.size(); ++i)
    if (lines.values[i].update <= update) kept += lines.texts[i] + "\n";
  keep_aside(path_, lines.damaged);
  write_file_atomically(path_, kept);
}

}  // namespace harmonium
