#include "harmonium/geometry/low_rank.h"

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

void LowRank::observe(const Observation& observation) {
  require(observation.statistics != nullptr, "low_rank needs the distribution of the statistics, and none was given");
  const ModelStatistics& statistics = *observation.statistics;
  const at::Tensor mean = statistics.mean().flatten();
  const at::Tensor trace = (statistics.mean_square().flatten() - mean.square()).sum();
  const Eigenpairs pairs =
      options_.rank > 0 ? statistics.leading_eigenpairs(options_.rank)
                        : Eigenpairs{at::zeros({0}, mean.options()), at::zeros({mean.size(0), 0}, mean.options())};
  const std::int64_t others = index_.dimension() - pairs.values.size(0);
  rest_ =
      (others > 0 ? (trace - pairs.values.sum()).clamp_min(0) / static_cast<double>(others) : at::ones_like(trace)) +
      options_.damping;
  values_ = pairs.values + options_.damping;
  vectors_ = pairs.vectors;
}

Direction LowRank::solve(const Moments& gradient) const {
  const at::Tensor flat = gradient.flatten();
  const at::Tensor coefficients = vectors_.t().mv(flat);
  return without_split(index_.topology(),
                       gradient.unflatten(flat / rest_ + vectors_.mv(coefficients / values_ - coefficients / rest_)));
}

at::Tensor LowRank::to_dense() const {
  const at::Tensor v = vectors_.to(at::kDouble), rest = rest_.to(at::kDouble);
  at::Tensor dense = (v * (values_.to(at::kDouble) - rest)).mm(v.t());
  dense.diagonal().add_(rest);
  return dense;
}

double LowRank::log_det() const {
  return values_.to(at::kDouble).log().sum().item<double>() +
         static_cast<double>(index_.dimension() - values_.size(0)) * std::log(rest_.item<double>());
}

std::int64_t LowRank::parameter_count() const {
  // One vector per rank and the isotropic rest, as a factor model counts them.
  return options_.rank * index_.dimension() + 1;
}

NamedTensors LowRank::state() const {
  if (!values_.defined()) return {};
  return {{"values", values_}, {"vectors", vectors_}, {"rest", rest_}};
}

void LowRank::restore(const NamedTensors& tensors) {
  const bool empty = tensors.empty();
  values_ = empty ? at::Tensor() : find_tensor(tensors, "values", "low_rank").clone();
  vectors_ = empty ? at::Tensor() : find_tensor(tensors, "vectors", "low_rank").clone();
  rest_ = empty ? at::Tensor() : find_tensor(tensors, "rest", "low_rank").clone();
}

}  // namespace harmonium
