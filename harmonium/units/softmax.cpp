#include "harmonium/units/softmax.h"

#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

std::string Softmax::spec() const { return format("softmax:{}x{}", groups_, states_); }

at::Tensor Softmax::mean(const at::Tensor& field, const Parameters&) const {
  return at::softmax(grouped(field), 2).reshape(field.sizes());
}

at::Tensor Softmax::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  // Inverse distribution function: the number of cumulative probabilities that one uniform per group has passed.
  // Rounding may leave the last of them below one, hence the clamp.
  const at::Tensor cumulative = at::cumsum(at::softmax(grouped(field), 2), 2);
  const at::Tensor u = uniform(key, {cumulative.size(0), groups_, 1}, field.options());
  const at::Tensor chosen = cumulative.le(u).sum(2).clamp_max(states_ - 1);
  return at::one_hot(chosen, states_).to(field.scalar_type()).reshape(field.sizes());
}

at::Tensor Softmax::mode(const at::Tensor& field, const Parameters&) const {
  return at::one_hot(grouped(field).argmax(2), states_).to(field.scalar_type()).reshape(field.sizes());
}

at::Tensor Softmax::log_partition(const at::Tensor& field, const Parameters&) const {
  return at::logsumexp(grouped(field.to(at::kDouble)), 2).sum(1);
}

at::Tensor Softmax::entropy(const at::Tensor& field, const Parameters&) const {
  const at::Tensor log_p = at::log_softmax(grouped(field.to(at::kDouble)), 2);
  return -(log_p.exp() * log_p).sum({1, 2});
}

at::Tensor Softmax::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                           const at::Tensor& weights) const {
  // diag(p) − p pᵀ within a group, nothing between groups.
  const at::Tensor p = mean(field, parameters);
  at::Tensor covariance = at::diag(average_rows(p, weights));
  const at::Tensor scaled =
      weights.defined() ? p * weights.to(p.scalar_type()).unsqueeze(1) : p / static_cast<double>(p.size(0));
  for (std::int64_t group = 0; group < groups_; ++group) {
    const std::int64_t first = group * states_;
    covariance.narrow(0, first, states_)
        .narrow(1, first, states_)
        .sub_(scaled.narrow(1, first, states_).t().mm(p.narrow(1, first, states_)));
  }
  return covariance;
}

Unit::Parameters Softmax::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const at::Tensor p = moments[0].to(at::kDouble) * (1 - static_cast<double>(states_) * smoothing) + smoothing;
  return {at::log(p).to(moments[0].scalar_type())};
}

std::optional<double> Softmax::state_count() const {
  return std::pow(static_cast<double>(states_), static_cast<double>(groups_));
}

at::Tensor Softmax::states(const at::Tensor& numbers, at::ScalarType type) const {
  // Group g is digit g of the number written in base K.
  std::vector<at::Tensor> digits;
  at::Tensor rest = numbers;
  for (std::int64_t g = 0; g < groups_; ++g) {
    digits.push_back(at::remainder(rest, states_));
    rest = at::floor_divide(rest, states_);
  }
  return at::one_hot(at::stack(digits, 1), states_).to(type).reshape({-1, width()});
}

std::string Softmax::complaint(const at::Tensor& state) const {
  const at::Tensor negative = at::logical_not(grouped(state).ge(0)).any(2);
  const at::Tensor sums_off = at::logical_not((grouped(state).sum(2) - 1).abs().le(1e-4));
  const at::Tensor bad = negative.logical_or(sums_off);
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  return format("row {}, group {}: its {} values are not one-hot (nor probabilities that sum to one)",
                where[0].item<std::int64_t>(), where[1].item<std::int64_t>(), states_);
}

}  // namespace harmonium
