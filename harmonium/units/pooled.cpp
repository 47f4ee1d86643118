#include "harmonium/units/pooled.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/linked_groups.h"

namespace harmonium {

std::string Pooled::spec() const { return format("pooled:{}x{}", groups_, size_); }

at::Tensor Pooled::choices(const at::Tensor& field) const {
  const at::Tensor grouped = field.reshape({-1, groups_, size_});
  return at::cat({at::zeros({grouped.size(0), groups_, 1}, field.options()), grouped}, 2);
}

at::Tensor Pooled::units(const at::Tensor& choices) const { return choices.narrow(2, 1, size_).reshape({-1, width()}); }

at::Tensor Pooled::mean(const at::Tensor& field, const Parameters&) const {
  return units(at::softmax(choices(field), 2));
}

at::Tensor Pooled::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  const at::Tensor cumulative = at::cumsum(at::softmax(choices(field), 2), 2);
  const at::Tensor u = uniform(key, {cumulative.size(0), groups_, 1}, field.options());
  const at::Tensor chosen = cumulative.le(u).sum(2).clamp_max(size_);
  return units(at::one_hot(chosen, size_ + 1)).to(field.scalar_type());
}

at::Tensor Pooled::mode(const at::Tensor& field, const Parameters&) const {
  return units(at::one_hot(choices(field).argmax(2), size_ + 1)).to(field.scalar_type());
}

at::Tensor Pooled::log_partition(const at::Tensor& field, const Parameters&) const {
  return at::logsumexp(choices(field.to(at::kDouble)), 2).sum(1);
}

at::Tensor Pooled::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                          const at::Tensor& weights) const {
  const at::Tensor p = mean(field, parameters);
  return group_covariance(at::diag(average_rows(p, weights)), p, weights, size_);
}

Unit::Parameters Pooled::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  const double states = static_cast<double>(size_ + 1);
  const at::Tensor p = (moments[0].to(at::kDouble) * (1 - states * smoothing) + smoothing).reshape({groups_, size_});
  const at::Tensor none = (1 - p.sum(1, /*keepdim=*/true)).clamp_min(1e-300);
  return {at::log(p / none).reshape({width()}).to(moments[0].scalar_type())};
}

std::optional<double> Pooled::state_count() const {
  return std::pow(static_cast<double>(size_ + 1), static_cast<double>(groups_));
}

at::Tensor Pooled::states(const at::Tensor& numbers, at::ScalarType type) const {
  return units(at::one_hot(digits_in_base(numbers, size_ + 1, groups_), size_ + 1)).to(type);
}

std::string Pooled::complaint(const at::Tensor& state) const {
  if (std::string bits = Bernoulli(width()).complaint(state); !bits.empty()) return bits;
  const at::Tensor bad = state.reshape({-1, groups_, size_}).sum(2).gt(1 + 1e-4);
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  return format("row {}, group {}: at most one of its {} units can be on", where[0].item<std::int64_t>(),
                where[1].item<std::int64_t>(), size_);
}

}  // namespace harmonium
