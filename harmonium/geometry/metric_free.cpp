#include "harmonium/geometry/metric_free.h"

#include "harmonium/core/error.h"

namespace harmonium {

void MetricFree::observe(const Observation& observation) {
  require(observation.statistics != nullptr, "metric_free needs particles, and none were given");
  statistics_ = observation.statistics;
}

Direction MetricFree::solve(const Moments& gradient) const {
  require(statistics_ != nullptr, "metric_free cannot solve before its first observation");
  // Stops early where the residual is at the rounding error of the products.
  constexpr double enough = 1e-12;
  Moments solution = gradient.zeros_like(), residual = gradient.clone(), search = gradient.clone();
  double squared = dot(residual, residual);
  const double target = enough * enough * squared;
  for (std::int64_t step = 0; step < options_.iterations && squared > target; ++step) {
    const Moments product = statistics_->covariance_product(search).add_(search, options_.damping);
    const double length = squared / dot(search, product);
    solution.add_(search, length);
    residual.add_(product, -length);
    const double next = dot(residual, residual);
    search.mul_(next / squared).add_(residual);
    squared = next;
  }
  return without_split(index_.topology(), solution);
}

at::Tensor MetricFree::to_dense() const {
  require(statistics_ != nullptr, "metric_free has no matrix before its first observation");
  at::Tensor dense = statistics_->covariance(index_.all_places()).to(at::kDouble).clone();
  dense.diagonal().add_(options_.damping);
  return dense;
}

double MetricFree::log_det() const { return 2 * at::linalg_cholesky(to_dense()).diagonal().log().sum().item<double>(); }

}  // namespace harmonium
