#include "harmonium/distributions/bernoulli.h"

#include <ATen/ATen.h>

#include "harmonium/core/format.h"
#include "harmonium/kernels/logistic.h"

namespace harmonium {

std::string BernoulliDistribution::spec() const { return format("bernoulli:{}", width()); }

std::vector<std::int64_t> BernoulliDistribution::raw_variables() const { return value_variables(); }

std::shared_ptr<const Distribution> BernoulliDistribution::of_one_variable() const {
  return std::make_shared<BernoulliDistribution>(1);
}

at::Tensor BernoulliDistribution::log_prob_each(const at::Tensor& value, const at::Tensor& raw) const {
  // log_sigmoid neither overflows nor loses its derivative at zero, as max(a, 0) + log(1 + e^{−|a|}) does.
  return value * raw + at::log_sigmoid(-raw);
}

at::Tensor BernoulliDistribution::sample(const Key& key, const at::Tensor& raw) const {
  return sample_logistic(key, raw.detach());
}

at::Tensor BernoulliDistribution::mean(const at::Tensor& raw) const { return raw.sigmoid(); }

std::optional<at::Tensor> BernoulliDistribution::kl(const at::Tensor& raw, const at::Tensor& other) const {
  return raw.sigmoid() * (raw - other) + at::log_sigmoid(-raw) - at::log_sigmoid(-other);
}

at::Tensor BernoulliDistribution::raw_of_means(const at::Tensor& means) const {
  constexpr double edge = 0.001;
  return means.to(at::kDouble).logit(edge).to(means.scalar_type());
}

std::string BernoulliDistribution::complaint(const at::Tensor& value) const {
  const at::Tensor bad = at::logical_not(value.ge(0).logical_and(value.le(1)));  // so that NaN is bad
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; binary values must lie in [0, 1]", row, column,
                value[row][column].item<double>());
}

}  // namespace harmonium
