#include "harmonium/distributions/categorical.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

CategoricalDistribution::CategoricalDistribution(std::int64_t variables, std::int64_t states)
    : Distribution(variables * states), states_(states) {
  require(states >= 2, "a categorical value needs at least two states, not {}", states);
}

std::string CategoricalDistribution::spec() const { return format("categorical:{}x{}", variables(), states_); }

std::string CategoricalDistribution::unit_spec() const { return format("softmax:{}x{}", variables(), states_); }

std::shared_ptr<const Distribution> CategoricalDistribution::of_one_variable() const {
  return std::make_shared<CategoricalDistribution>(1, states_);
}

at::Tensor CategoricalDistribution::grouped(const at::Tensor& columns) const {
  std::vector<std::int64_t> shape = columns.sizes().vec();
  shape.back() = variables();
  shape.push_back(states_);
  return columns.reshape(shape);
}

at::Tensor CategoricalDistribution::log_prob_each(const at::Tensor& value, const at::Tensor& raw) const {
  return (grouped(value) * at::log_softmax(grouped(raw), -1)).sum(-1);
}

at::Tensor CategoricalDistribution::sample(const Key& key, const at::Tensor& raw) const {
  // Inverse distribution function, as softmax units draw; rounding may leave the last sum below one, hence the clamp.
  const at::Tensor cumulative = at::cumsum(at::softmax(grouped(raw.detach()), -1), -1);
  std::vector<std::int64_t> shape = cumulative.sizes().vec();
  shape.back() = 1;
  const at::Tensor chosen = cumulative.le(uniform(key, shape, raw.options())).sum(-1).clamp_max(states_ - 1);
  return at::one_hot(chosen, states_).to(raw.scalar_type()).reshape(raw.sizes());
}

at::Tensor CategoricalDistribution::mean(const at::Tensor& raw) const {
  return at::softmax(grouped(raw), -1).reshape(raw.sizes());
}

at::Tensor CategoricalDistribution::raw_of_means(const at::Tensor& means) const {
  constexpr double edge = 0.001;
  return means.to(at::kDouble).clamp_min(edge).log().to(means.scalar_type());
}

std::string CategoricalDistribution::complaint(const at::Tensor& value) const {
  const at::Tensor groups = grouped(value);
  const at::Tensor bad =
      groups.ge(0).all(-1).logical_and((groups.sum(-1) - 1).abs().le(1e-4)).logical_not();  // so that NaN is bad
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  return format("row {}, value {}: its {} columns are not one-hot (nor probabilities that sum to one)",
                where[0].item<std::int64_t>(), where[1].item<std::int64_t>(), states_);
}

}  // namespace harmonium
