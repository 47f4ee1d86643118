#include "harmonium/units/poisson.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double largest_field = 15;

at::Tensor rates(const at::Tensor& field) { return field.to(at::kDouble).clamp_max(largest_field).exp_(); }

// The least n with P(x ≤ n) > u, for rates in float64 that are not large: from 0 on.
at::Tensor search_from_zero(const at::Tensor& rate, const at::Tensor& u) {
  at::Tensor term = (-rate).exp(), passed = term.clone(), result = at::zeros_like(rate);
  for (double value = 1;; ++value) {
    const at::Tensor beyond = u.ge(passed);
    if (!beyond.any().item<bool>()) return result;
    result.add_(beyond);
    term = term * rate / value;
    passed.add_(term);
    if (term.max().item<double>() < 1e-18 * passed.min().item<double>()) return result;  // rounding left passed < u
  }
}

// The same by halving what lies within 12 deviations: P(x ≤ n) = Q(n + 1, rate).
at::Tensor search_by_halving(const at::Tensor& rate, const at::Tensor& u) {
  const at::Tensor reach = 12 * rate.sqrt();
  at::Tensor low = (rate - reach).floor().clamp_min(0) - 1, high = (rate + reach).ceil();  // P(low) ≤ u < P(high)
  while ((high - low).gt(1).any().item<bool>()) {
    const at::Tensor middle = ((low + high) / 2).floor();
    const at::Tensor above = at::special_gammaincc(middle + 1, rate).gt(u);
    high = at::where(above, middle, high);
    low = at::where(above, low, middle);
  }
  return high;
}

}  // namespace

std::string Poisson::spec() const { return format("poisson:{}", width()); }

at::Tensor Poisson::mean(const at::Tensor& field, const Parameters&) const {
  return field.clamp_max(largest_field).exp();
}

at::Tensor Poisson::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  constexpr double large = 100;
  const at::Tensor rate = rates(field), u = uniform(key, field.sizes(), rate.options());
  const at::Tensor many = rate.gt(large);
  at::Tensor result = search_from_zero(at::where(many, at::zeros_like(rate), rate), u);
  if (many.any().item<bool>())
    result.masked_scatter_(many, search_by_halving(rate.masked_select(many), u.masked_select(many)));
  return result.to(field.scalar_type());
}

at::Tensor Poisson::mode(const at::Tensor& field, const Parameters&) const {
  return rates(field).floor_().to(field.scalar_type());
}

at::Tensor Poisson::log_partition(const at::Tensor& field, const Parameters&) const {
  const at::Tensor beyond = (field.to(at::kDouble) - largest_field).clamp_min_(0);
  return (rates(field) * (1 + beyond)).sum(1);
}

at::Tensor Poisson::log_measure(const at::Tensor& state) const { return -at::lgamma(state.to(at::kDouble) + 1).sum(1); }

at::Tensor Poisson::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  const at::Tensor rate = mean(field, parameters);
  return rate + rate * rate;
}

at::Tensor Poisson::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                           const at::Tensor& weights) const {
  return at::diag(average_rows(mean(field, parameters), weights));
}

Unit::Parameters Poisson::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor rate = moments[0].to(at::kDouble) * (1 - smoothing) + smoothing;
  return {at::log(rate.clamp_min(1e-30)).to(moments[0].scalar_type())};
}

at::Tensor Poisson::growth(const Parameters& parameters) const {
  return at::full_like(parameters[0], std::numeric_limits<double>::infinity());
}

std::string Poisson::complaint(const at::Tensor& state) const {
  const at::Tensor bad = at::logical_not(state.ge(0).logical_and(state.isfinite()));
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; poisson units need counts, 0 or more", row, column,
                state[row][column].item<double>());
}

}  // namespace harmonium
