#include "harmonium/geometry/exact_metric.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/damped_cholesky.h"

namespace harmonium {

void ExactMetric::observe(const Observation& observation) {
  require(observation.statistics != nullptr, "exact needs an enumeration of the model's states, and none was given");
  covariance_ = observation.statistics->covariance(index_.all_places()).to(at::kDouble);
}

void ExactMetric::refit() {
  const DampedFactor result = damped_cholesky(covariance_, options_.damping, "exact: the Fisher information");
  factor_ = result.factor;
  if (!result.note.empty()) note(result.note);
}

Direction ExactMetric::solve(const Moments& gradient) const {
  const at::Tensor flat = gradient.flatten();
  const at::Tensor solved = at::cholesky_solve(flat.to(at::kDouble).unsqueeze(1), factor_).squeeze(1);
  return without_split(index_.topology(), gradient.unflatten(solved.to(flat.scalar_type())));
}

at::Tensor ExactMetric::to_dense() const { return factor_.mm(factor_.t()); }

double ExactMetric::log_det() const { return 2 * factor_.diagonal().log().sum().item<double>(); }

std::int64_t ExactMetric::parameter_count() const { return index_.dimension() * (index_.dimension() + 1) / 2; }

}  // namespace harmonium
