#include "harmonium/data/row_digests.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace harmonium {

namespace {

// Multiply and fold, a value at a time; the last lines are the finalizer of MurmurHash3.
std::uint64_t hash_of_row(const float* values, std::int64_t count) {
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL ^ static_cast<std::uint64_t>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    // −0 is 0, and one NaN is as good as another.
    const float value = std::isnan(values[i]) ? std::bit_cast<float>(0x7FC00000U) : values[i] + 0.0F;
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0xFF51AFD7ED558CCDULL;
    hash ^= hash >> 32;
  }
  hash ^= hash >> 33;
  hash *= 0xC4CEB9FE1A85EC53ULL;
  return hash ^ (hash >> 33);
}

}  // namespace

std::vector<std::uint64_t> row_hashes(const Dataset& data) {
  constexpr std::int64_t rows_at_once = 1024;
  std::vector<std::uint64_t> hashes;
  hashes.reserve(static_cast<std::size_t>(data.rows()));
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::int64_t count = std::min(rows_at_once, data.rows() - first);
    const at::Tensor chunk = data.values.narrow(0, first, count).to(at::kFloat).contiguous();
    for (std::int64_t row = 0; row < count; ++row)
      hashes.push_back(hash_of_row(chunk.data_ptr<float>() + row * data.columns(), data.columns()));
  }
  return hashes;
}

RowDigests digest_rows(const Dataset& data, std::int64_t most) {
  std::vector<std::uint64_t> hashes = row_hashes(data);
  std::ranges::sort(hashes);
  RowDigests digests{.rows = data.rows(), .hashes = {}};
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool as_before = i > 0 && hashes[i] == hashes[i - 1];
    const bool as_after = i + 1 < hashes.size() && hashes[i] == hashes[i + 1];
    if (!as_before && !as_after) ++digests.once;
  }
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  digests.whole = static_cast<std::int64_t>(hashes.size()) <= most;
  if (!digests.whole) hashes.resize(static_cast<std::size_t>(most));
  digests.hashes = at::empty({static_cast<std::int64_t>(hashes.size())}, at::kLong);
  if (!hashes.empty())
    std::memcpy(digests.hashes.data_ptr<std::int64_t>(), hashes.data(), hashes.size() * sizeof(std::uint64_t));
  return digests;
}

bool RowsSeen::trained_on() const {
  if (certain) return true;
  const auto all = static_cast<double>(rows), found = static_cast<double>(seen);
  const double spread = std::sqrt(expected * (1 - expected / std::max(all, 1.0)));
  return found - expected > 0.5 * (all - expected) && found - expected > 4 * spread;
}

RowsSeen find_seen_rows(const RowDigests& trained, const Dataset& data) {
  RowsSeen result{.rows = data.rows()};
  // One is added so that a handful of rows that differ do not promise that no row ever repeats.
  result.expected = static_cast<double>(data.rows()) *
                    (1 - static_cast<double>(trained.once) / static_cast<double>(trained.rows + 1));
  const at::Tensor kept = trained.hashes.contiguous();
  std::vector<std::uint64_t> known(static_cast<std::size_t>(kept.numel()));
  if (!known.empty()) std::memcpy(known.data(), kept.data_ptr<std::int64_t>(), known.size() * sizeof(std::uint64_t));
  if (known.empty()) return result;
  std::int64_t told = 0, found = 0;
  for (const std::uint64_t hash : row_hashes(data)) {
    if (!trained.whole && hash > known.back()) continue;  // the sketch does not reach so far
    ++told;
    if (std::ranges::binary_search(known, hash)) ++found;
  }
  result.estimated = !trained.whole;
  result.seen =
      trained.whole || told == 0
          ? found
          : std::llround(static_cast<double>(found) * static_cast<double>(data.rows()) / static_cast<double>(told));
  return result;
}

}  // namespace harmonium
