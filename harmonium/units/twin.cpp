#include "harmonium/units/twin.h"

#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/units/bernoulli.h"

namespace harmonium {

std::string Twin::spec() const { return format("twin:{}", width()); }

at::Tensor Twin::mean(const at::Tensor& field, const Parameters&) const { return logistic(field * 0.5); }

at::Tensor Twin::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  const at::Tensor half = field * 0.5;
  return (sample_logistic(key.fold_in(0), half) + sample_logistic(key.fold_in(1), half)) * 0.5;
}

at::Tensor Twin::mode(const at::Tensor& field, const Parameters&) const {
  // x = ½ has twice the measure of either end: it is the most probable as long as the odds of a copy lie within 1 : 2
  // and 2 : 1.
  const double edge = 2 * std::log(2.0);
  return (field.gt(edge).to(field.scalar_type()) + field.ge(-edge).to(field.scalar_type())) * 0.5;
}

at::Tensor Twin::log_partition(const at::Tensor& field, const Parameters&) const {
  return 2 * softplus_row_sums(field * 0.5);
}

at::Tensor Twin::entropy(const at::Tensor& field, const Parameters& parameters) const {
  // −E[log p(x) / measure(x)] = log-partition − field·E[x]
  return log_partition(field, parameters) - (field * mean(field, parameters)).sum(1, /*keepdim=*/false, at::kDouble);
}

at::Tensor Twin::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor p = mean(field, parameters);
  return p * (1 + p) * 0.5;  // p² + p(1 − p) / 2
}

at::Tensor Twin::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                        const at::Tensor& weights) const {
  const at::Tensor p = mean(field, parameters);
  return at::diag(average_rows(p - p * p, weights) * 0.5);
}

Unit::Parameters Twin::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  return {2 * Bernoulli(width()).parameters_of(moments, smoothing)[0]};
}

std::string Twin::complaint(const at::Tensor& state) const { return Bernoulli(width()).complaint(state); }

}  // namespace harmonium
