#include "harmonium/units/gaussian.h"

#include <cmath>
#include <numbers>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

const double log_two_pi = std::log(2 * std::numbers::pi);

}  // namespace

std::string Gaussian::spec() const {
  const char* held = precision_ == Precision::scalar ? ":scalar" : precision_ == Precision::fixed ? ":fixed" : "";
  return format("gaussian:{}{}", width(), held);
}

Unit::Parameters Gaussian::neutral_parameters(at::ScalarType type) const {
  return {at::zeros({width()}, type), at::ones({width()}, type)};
}

at::Tensor Gaussian::mean(const at::Tensor& field, const Parameters& parameters) const { return field / parameters[1]; }

at::Tensor Gaussian::sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const {
  return field / parameters[1] + normal(key, field.sizes(), field.options()) * parameters[1].rsqrt();
}

at::Tensor Gaussian::mode(const at::Tensor& field, const Parameters& parameters) const {
  return mean(field, parameters);
}

at::Tensor Gaussian::log_partition(const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor f = field.to(at::kDouble), precision = parameters[1].to(at::kDouble);
  return 0.5 * ((f * f / precision).sum(1) + (log_two_pi - precision.log()).sum());
}

at::Tensor Gaussian::entropy(const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor total = 0.5 * (1 + log_two_pi - parameters[1].to(at::kDouble).log()).sum();
  return total.expand({field.size(0)}).clone();
}

at::Tensor Gaussian::log_potential(const at::Tensor& state, const Parameters& parameters) const {
  return (state.matmul(parameters[0]) - 0.5 * (state * state).matmul(parameters[1])).to(at::kDouble);
}

std::vector<at::Tensor> Gaussian::statistics(const at::Tensor& state) const { return {state, -0.5 * state * state}; }

std::vector<at::Tensor> Gaussian::expected_statistics(const at::Tensor& field, const Parameters& parameters) const {
  return {mean(field, parameters), -0.5 * expected_square(field, parameters)};
}

at::Tensor Gaussian::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  return mean(field, parameters).square() + parameters[1].reciprocal();
}

at::Tensor Gaussian::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                            const at::Tensor& weights) const {
  // Units are independent. Of one unit N(μ, 1/λ): Var x = 1/λ, Cov(x, −½x²) = −μ/λ, Var(−½x²) = μ²/λ + 1/(2λ²).
  const at::Tensor center = mean(field, parameters), variance = parameters[1].reciprocal();
  const at::Tensor total = weights.defined() ? weights.sum().to(field.scalar_type()) : at::ones({}, field.options());
  const at::Tensor location = at::diag(total * variance);
  const at::Tensor cross = at::diag(-variance * average_rows(center, weights));
  const at::Tensor scale =
      at::diag(variance * average_rows(center.square(), weights) + total * 0.5 * variance.square());
  return at::cat({at::cat({location, cross}, 1), at::cat({cross, scale}, 1)}, 0);
}

Unit::Parameters Gaussian::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor variance = (-2 * moments[1] - moments[0] * moments[0]).clamp_min(std::max(smoothing, 1e-12));
  return {moments[0] / variance, variance.reciprocal()};
}

std::optional<Unit::Grid> Gaussian::grid(const at::Tensor& low, const at::Tensor& high,
                                         const Parameters& parameters) const {
  // Steps of one deviation: the trapezoidal rule errs by 2e^{−2π²} there.
  constexpr double margin = 9;  // deviations beyond the outermost means
  const at::Tensor precision = parameters[1].to(at::kDouble), deviation = precision.rsqrt();
  return Grid{.start = low / precision - margin * deviation,
              .step = deviation,
              .steps = static_cast<std::int64_t>(
                  std::ceil(((high - low) / precision / deviation).max().item<double>() + 2 * margin))};
}

at::Tensor Gaussian::growth(const Parameters& parameters) const { return parameters[1].reciprocal(); }

void Gaussian::constrain_(Parameters& parameters) const {
  if (precision_ == Precision::fixed) parameters[1].fill_(1);
  // Of precisions that were alike before a step, the mean is the step along their common direction.
  if (precision_ == Precision::scalar) parameters[1].copy_(parameters[1].mean().expand({width()}));
  parameters[1].clamp_min_(smallest_precision);
}

std::string Gaussian::complaint(const at::Tensor& state) const {
  const at::Tensor bad = at::isfinite(state).logical_not();
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  return format("row {}, column {} is not a finite number", where[0].item<std::int64_t>(),
                where[1].item<std::int64_t>());
}

}  // namespace harmonium
