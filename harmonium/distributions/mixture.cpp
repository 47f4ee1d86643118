#include "harmonium/distributions/mixture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

MixtureColumns mixture_columns(const at::Tensor& raw, std::int64_t variables, std::int64_t components) {
  std::vector<std::int64_t> shape(raw.sizes().begin(), raw.sizes().end());
  shape.back() = variables;
  shape.insert(shape.end(), {3, components});
  const at::Tensor grouped = raw.reshape(shape);
  return {.log_weight = grouped.select(-2, 0).log_softmax(-1),
          .place = grouped.select(-2, 1),
          .width = grouped.select(-2, 2)};
}

at::Tensor drawn_component(const Key& key, const at::Tensor& log_weight) {
  const at::Tensor cumulative = log_weight.to(at::kDouble).exp().cumsum(-1);
  const at::Tensor u = uniform(key, cumulative.select(-1, 0).sizes(), cumulative.options()).unsqueeze(-1);
  return cumulative.le(u).sum(-1, /*keepdim=*/true).clamp_max(log_weight.size(-1) - 1);
}

MixtureDistribution::MixtureDistribution(std::int64_t width, std::int64_t components, Kernel kernel, double floor)
    : Distribution(width), components_(components), kernel_(kernel), floor_(floor) {
  constexpr std::int64_t most_components = 1000;
  require(components >= 1 && components <= most_components, "a mixture has 1 to {} components, not {}", most_components,
          components);
  require(floor > 0 && std::isfinite(floor), "the floor of a standard deviation must be a positive number, not {}",
          floor);
}

std::string MixtureDistribution::spec() const {
  return format("{}_mixture:{}x{}:{}", kernel_ == Kernel::gaussian ? "gaussian" : "laplace", width(), components_,
                floor_);
}

std::string MixtureDistribution::unit_spec() const { return format("gaussian:{}", width()); }

std::vector<std::int64_t> MixtureDistribution::raw_variables() const {
  std::vector<std::int64_t> result;
  for (std::int64_t column = 0; column < raw_width(); ++column) result.push_back(column / (3 * components_));
  return result;
}

std::shared_ptr<const Distribution> MixtureDistribution::of_one_variable() const {
  return std::make_shared<MixtureDistribution>(1, components_, kernel_, floor_);
}

MixtureDistribution::Parts MixtureDistribution::parts(const at::Tensor& raw) const {
  constexpr double largest_log_deviation = 7;  // as in gaussian.cpp
  const MixtureColumns columns = mixture_columns(raw, width(), components_);
  return {.log_weight = columns.log_weight,
          .mean = columns.place,
          .log_deviation = at::logaddexp(columns.width.clamp_max(largest_log_deviation),
                                         at::full({}, std::log(floor_), raw.options()))};
}

at::Tensor MixtureDistribution::log_prob_each(const at::Tensor& value, const at::Tensor& raw) const {
  constexpr double half_log_two_pi = 0.91893853320467274178, log_two = 0.69314718055994530942;
  const Parts all = parts(raw);
  const at::Tensor z = (value.unsqueeze(-1) - all.mean) * at::exp(-all.log_deviation);
  const at::Tensor log_kernel = kernel_ == Kernel::gaussian ? z.square() * -0.5 - half_log_two_pi : -z.abs() - log_two;
  return at::logsumexp(all.log_weight + log_kernel - all.log_deviation, -1);
}

at::Tensor MixtureDistribution::sample(const Key& key, const at::Tensor& raw) const {
  const c10::NoGradGuard without_gradient;
  const Parts all = parts(raw);
  const at::Tensor chosen = drawn_component(key.fold_in(0), all.log_weight);
  const at::Tensor mu = all.mean.gather(-1, chosen).squeeze(-1);
  const at::Tensor sigma = all.log_deviation.gather(-1, chosen).squeeze(-1).exp();
  if (kernel_ == Kernel::gaussian) return mu + sigma * normal(key.fold_in(1), mu.sizes(), mu.options());
  // The inverse distribution function at v in [−½, ½): −sign(v) log(1 − 2|v|), finite but at v = −½.
  const at::Tensor v = uniform(key.fold_in(1), mu.sizes(), mu.options().dtype(at::kDouble)) - 0.5;
  const at::Tensor z = -v.sign() * at::log((1 - 2 * v.abs()).clamp_min(1e-16));
  return mu + sigma * z.to(mu.scalar_type());
}

at::Tensor MixtureDistribution::mean(const at::Tensor& raw) const {
  const Parts all = parts(raw);
  return (all.log_weight.exp() * all.mean).sum(-1);
}

at::Tensor MixtureDistribution::raw_of_means(const at::Tensor& means) const {
  const at::TensorOptions options = means.options();
  const at::Tensor places = (at::arange(components_, options) + 0.5) * (2.4 / static_cast<double>(components_)) - 1.2;
  const at::Tensor mu = means.unsqueeze(-1) + places, none = at::zeros_like(mu);
  return at::stack({none, mu, none - 0.5 * std::log(2.0)}, -2).reshape({-1});
}

std::string MixtureDistribution::complaint(const at::Tensor& value) const {
  return GaussianDistribution(width()).complaint(value);
}

}  // namespace harmonium
