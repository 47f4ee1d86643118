#include "harmonium/families/snapshot_updates.h"

#include <charconv>
#include <sstream>
#include <string_view>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// The whole text as a number; -1 where it is none.
std::int64_t whole_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

std::vector<std::int64_t> logarithmic_updates(std::int64_t updates) {
  std::vector<std::int64_t> result;
  for (std::int64_t power = 1; power < updates; power *= 10)
    for (const std::int64_t update : {power, 3 * power})
      if (update < updates) result.push_back(update);
  result.push_back(updates);
  return result;
}

}  // namespace

std::vector<std::int64_t> snapshot_updates(const std::string& list, std::int64_t updates) {
  if (list == "none") return {};
  if (list == "log") return logarithmic_updates(updates);
  std::vector<std::int64_t> result;
  std::istringstream items(list + ",");  // so that a comma at the end is an empty item, not nothing
  for (std::string item; std::getline(items, item, ',');) {
    item.erase(0, item.find_first_not_of(' '));
    const std::int64_t update = whole_number(item);
    require(update >= 1, "@snapshots {}: '{}' is no update; give numbers from 1 such as 100,300,1000, or log, or none",
            list, item);
    require(result.empty() || update > result.back(),
            "@snapshots {}: {} does not come after {}; give increasing numbers", list, update,
            result.empty() ? 0 : result.back());
    require(update <= updates, "@snapshots {}: there is no update {}, the run has {} (@updates)", list, update,
            updates);
    result.push_back(update);
  }
  return result;
}

}  // namespace harmonium
