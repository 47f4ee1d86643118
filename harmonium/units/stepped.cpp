#include "harmonium/units/stepped.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/linked_groups.h"
#include "harmonium/units/match_moments.h"

namespace harmonium {

namespace {

// Σ over the copies of f(field − i + ½), in float64. Copies further than this below are off for certain: what they add
// is below 10⁻¹⁹.
template <class Function>
at::Tensor over_copies(const at::Tensor& field, std::int64_t copies, Function f) {
  constexpr double certain = 45;
  const at::Tensor x = field.to(at::kDouble);
  at::Tensor total = at::zeros_like(x);
  if (x.numel() == 0) return total;
  const double largest = x.max().item<double>();
  for (std::int64_t i = 0; i < copies; ++i) {
    const double offset = static_cast<double>(i) + 0.5;
    if (largest - offset < -certain) break;
    total.add_(f(x - offset));
  }
  return total;
}

at::Tensor variance_of_copies(const at::Tensor& field, std::int64_t copies) {
  return over_copies(field, copies, [](const at::Tensor& x) {
    const at::Tensor p = at::sigmoid(x);
    return p - p * p;
  });
}

}  // namespace

Stepped::Stepped(std::int64_t width, std::int64_t copies) : Unit(width), copies_(copies) {
  std::vector<double> ways(static_cast<std::size_t>(copies) + 1, -std::numeric_limits<double>::infinity());
  ways[0] = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(copies); ++i)
    for (std::size_t on = i + 1; on > 0; --on) {
      const double with = ways[on - 1] - (static_cast<double>(i) + 0.5), high = std::max(ways[on], with);
      ways[on] = high + std::log1p(std::exp(std::min(ways[on], with) - high));
    }
  log_ways_ = at::tensor(ways, at::kDouble);
}

std::string Stepped::spec() const {
  return copies_ == usual_copies ? format("stepped:{}", width()) : format("stepped:{}x{}", width(), copies_);
}

at::Tensor Stepped::mean(const at::Tensor& field, const Parameters&) const {
  return over_copies(field, copies_, [](const at::Tensor& x) { return at::sigmoid(x); }).to(field.scalar_type());
}

at::Tensor Stepped::log_partition(const at::Tensor& field, const Parameters&) const {
  return over_copies(field, copies_, [](const at::Tensor& x) { return at::softplus(x); }).sum(1);
}

at::Tensor Stepped::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  // Inverse distribution function: p(x) = ψ(x) e^{x·field − log-partition}, from 0 on.
  const at::Tensor x = field.to(at::kDouble), u = uniform(key, field.sizes(), x.options());
  const at::Tensor rest = -over_copies(field, copies_, [](const at::Tensor& f) { return at::softplus(f); });
  at::Tensor passed = at::zeros_like(x), result = at::zeros_like(x);
  for (std::int64_t value = 0; value < copies_; ++value) {
    passed.add_((rest + x * static_cast<double>(value) + log_ways_[value].item<double>()).exp_());
    const at::Tensor beyond = u.ge(passed);
    if (!beyond.any().item<bool>()) break;
    result.add_(beyond);
  }
  return result.to(field.scalar_type());
}

at::Tensor Stepped::mode(const at::Tensor& field, const Parameters&) const {
  // ψ is log-concave: x + 1 beats x as long as field > log ψ(x) − log ψ(x + 1).
  const at::Tensor steps = (log_ways_.narrow(0, 0, copies_) - log_ways_.narrow(0, 1, copies_)).to(field.device());
  return at::searchsorted(steps, field.to(at::kDouble).contiguous()).to(field.scalar_type());
}

at::Tensor Stepped::log_measure(const at::Tensor& state) const {
  const at::Tensor value = state.round().clamp(0, static_cast<double>(copies_)).to(at::kLong);
  return log_ways_.to(state.device()).index({value}).sum(1);
}

at::Tensor Stepped::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  return mean(field, parameters).square() + variance_of_copies(field, copies_).to(field.scalar_type());
}

at::Tensor Stepped::conditional_covariance(const at::Tensor& field, const Parameters&,
                                           const at::Tensor& weights) const {
  return at::diag(average_rows(variance_of_copies(field, copies_).to(field.scalar_type()), weights));
}

Unit::Parameters Stepped::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  return match_moments(*this, moments, smoothing, Columns::independent);
}

at::Tensor Stepped::growth(const Parameters& parameters) const { return at::ones_like(parameters[0]); }

std::optional<double> Stepped::state_count() const {
  return std::pow(static_cast<double>(copies_ + 1), static_cast<double>(width()));
}

at::Tensor Stepped::states(const at::Tensor& numbers, at::ScalarType type) const {
  return digits_in_base(numbers, copies_ + 1, width()).to(type);
}

std::string Stepped::complaint(const at::Tensor& state) const {
  const at::Tensor bad = at::logical_not(state.ge(0).logical_and(state.le(static_cast<double>(copies_))));
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; {} units have values 0 … {}", row, column,
                state[row][column].item<double>(), spec(), copies_);
}

}  // namespace harmonium
