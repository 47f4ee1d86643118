#include "harmonium/samplers/mode_jumps.h"

#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

NearestLabelled::NearestLabelled(const at::Tensor& rows, const at::Tensor& labels)
    : rows_(rows.to(at::kFloat)), labels_(labels.to(rows_.options().dtype(at::kLong))) {
  require(rows_.dim() == 2 && rows_.size(0) >= 2, "modes need at least two labelled rows");
  require(labels_.dim() == 1 && labels_.size(0) == rows_.size(0), "modes: {} labels for {} rows", labels_.numel(),
          rows_.size(0));
  require(labels_.min().item<std::int64_t>() >= 0, "modes: a label is negative; labels count from 0");
  squares_ = rows_.square().sum(1);
  classes_ = labels_.max().item<std::int64_t>() + 1;
}

at::Tensor NearestLabelled::squared_distances(const at::Tensor& states) const {
  const at::Tensor x = states.to(at::kFloat);
  return at::addmm(squares_.unsqueeze(0) + x.square().sum(1, true), x, rows_.t(), 1, -2);
}

NearestLabelled::Assignment NearestLabelled::assign(const at::Tensor& states) const {
  const auto [square, index] = squared_distances(states).min(1);
  return {labels_.index_select(0, index), square.clamp_min(0).sqrt()};
}

NearestLabelled::LeaveOneOut NearestLabelled::leave_one_out() const {
  at::Tensor squared = squared_distances(rows_);
  squared.fill_diagonal_(std::numeric_limits<float>::infinity());
  const auto [square, index] = squared.min(1);
  return {labels_.index_select(0, index).eq(labels_).to(at::kDouble).mean().item<double>(),
          square.clamp_min(0).sqrt().mean().item<double>()};
}

double NearestLabelled::distance_to_nearest_of(const at::Tensor& states) const {
  return at::amin(squared_distances(states), 0).clamp_min(0).sqrt().mean().item<double>();
}

double NearestLabelled::distance_to_first(std::int64_t count) const {
  require(count >= 1 && count < rows(), "distances to the first {} rows need more rows than that", count);
  const at::Tensor squared = squared_distances(rows_.narrow(0, 0, count)).narrow(1, count, rows() - count);
  return at::amin(squared, 0).clamp_min(0).sqrt().mean().item<double>();
}

std::int64_t ModeJumps::visited() const { return histogram.gt(0).sum().item<std::int64_t>(); }

double ModeJumps::per_hundred() const {
  return steps == 0 ? 0 : 100.0 * static_cast<double>(jumps) / static_cast<double>(chains * steps);
}

double ModeJumps::per_hundred_if_independent() const {
  const at::Tensor share = histogram.to(at::kDouble) / histogram.sum();
  return 100 * (1 - share.square().sum().item<double>());
}

ModeJumps count_jumps(const at::Tensor& modes, std::int64_t classes) {
  require(modes.dim() == 2 && modes.numel() > 0 && modes.scalar_type() == at::kLong,
          "jumps are counted in chains × states of whole numbers");
  require(modes.min().item<std::int64_t>() >= 0 && modes.max().item<std::int64_t>() < classes,
          "jumps: a state has a class outside 0 … {}", classes - 1);
  const std::int64_t chains = modes.size(0), steps = modes.size(1) - 1;
  ModeJumps result{.chains = chains, .steps = steps};
  result.jumps = modes.narrow(1, 1, steps).ne(modes.narrow(1, 0, steps)).sum().item<std::int64_t>();
  const at::Tensor cells = modes + classes * at::arange(chains, modes.options()).unsqueeze(1);
  const at::Tensor by_chain = at::bincount(cells.flatten(), {}, chains * classes).view({chains, classes});
  result.histogram = by_chain.sum(0);
  result.visited_per_chain = by_chain.gt(0).to(at::kDouble).mean().item<double>();
  return result;
}

}  // namespace harmonium
