#include "harmonium/data/catalog/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace harmonium {

namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  // row[j] is the distance between the letters of `a` seen so far and the first j letters of `b`.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates) {
  std::string nearest;
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates)
    if (const std::size_t distance = edit_distance(word, candidate); distance < best) {
      best = distance;
      nearest = candidate;
    }
  return nearest;
}

}  // namespace harmonium
