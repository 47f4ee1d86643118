#include "harmonium/data/packed_sequences.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "harmonium/core/error.h"

namespace harmonium {

PackedSequences pack(const Dataset& data, const at::Tensor& cases) {
  const at::Tensor asked = cases.to(at::kCPU, at::kLong).contiguous();
  require(asked.numel() >= 1, "{}: there are no sequences to put side by side", data.name);
  std::vector<std::int64_t> starts(static_cast<std::size_t>(data.cases()));
  if (data.lengths.empty())
    std::iota(starts.begin(), starts.end(), 0);
  else
    std::exclusive_scan(data.lengths.begin(), data.lengths.end(), starts.begin(), std::int64_t{0});
  const auto length_of = [&](std::int64_t each) {
    return data.lengths.empty() ? 1 : data.lengths[static_cast<std::size_t>(each)];
  };

  PackedSequences packed;
  packed.order.assign(asked.data_ptr<std::int64_t>(), asked.data_ptr<std::int64_t>() + asked.numel());
  for (const std::int64_t each : packed.order)
    require(each >= 0 && each < data.cases(), "{}: there is no sequence {} among {}", data.name, each, data.cases());
  std::ranges::stable_sort(packed.order, std::ranges::greater{}, length_of);
  std::int64_t frames = 0;
  for (const std::int64_t each : packed.order) {
    packed.lengths.push_back(length_of(each));
    frames += packed.lengths.back();
  }
  packed.rows = at::empty({frames}, at::kLong);
  auto* row = packed.rows.data_ptr<std::int64_t>();
  auto alive = static_cast<std::int64_t>(packed.order.size());
  for (std::int64_t step = 0; step < packed.lengths.front(); ++step) {
    while (packed.lengths[static_cast<std::size_t>(alive - 1)] <= step) --alive;
    packed.alive.push_back(alive);
    for (std::int64_t place = 0; place < alive; ++place)
      *row++ = starts[static_cast<std::size_t>(packed.order[static_cast<std::size_t>(place)])] + step;
  }
  return packed;
}

}  // namespace harmonium
