#include "harmonium/distributions/gaussian.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double largest_log_deviation = 7;  // σ between 1/1097 and 1097: beyond, float32 has no use for it

constexpr double log_root_two_pi = 0.91893853320467274178;

std::string gaussian_spec(bool shared, std::int64_t width, double floor) {
  return format("{}:{}{}", shared ? "shared_gaussian" : "gaussian", width, floor > 0 ? format(":{}", floor) : "");
}

}  // namespace

GaussianDistribution::GaussianDistribution(std::int64_t width, Deviation deviation, double floor)
    : Distribution(width), deviation_(deviation), floor_(floor) {
  require(floor >= 0 && std::isfinite(floor), "the floor of a standard deviation must be a positive number, not {}",
          floor);
}

std::string GaussianDistribution::spec() const { return gaussian_spec(shared_width() > 0, width(), floor_); }

std::string GaussianDistribution::unit_spec() const { return format("gaussian:{}", width()); }

at::Tensor GaussianDistribution::log_deviation(const at::Tensor& raw) const {
  const at::Tensor s = raw.narrow(-1, width(), deviations());
  if (floor_ == 0) return s.clamp(-largest_log_deviation, largest_log_deviation);
  return at::logaddexp(s.clamp_max(largest_log_deviation), at::full({}, std::log(floor_), s.options()));
}

at::Tensor GaussianDistribution::entropy_each(const at::Tensor& raw) const {
  return (log_deviation(raw) + (log_root_two_pi + 0.5)).expand_as(mean(raw));
}

std::vector<std::int64_t> GaussianDistribution::raw_variables() const {
  std::vector<std::int64_t> result = value_variables();
  for (std::int64_t column = 0; column < deviations(); ++column)
    result.push_back(deviation_ == Deviation::shared ? -1 : column);
  return result;
}

std::shared_ptr<const Distribution> GaussianDistribution::of_one_variable() const {
  return std::make_shared<GaussianDistribution>(1, deviation_, floor_);
}

at::Tensor GaussianDistribution::log_prob_each(const at::Tensor& value, const at::Tensor& raw) const {
  const at::Tensor log_sigma = log_deviation(raw);
  return ((value - mean(raw)) * at::exp(-log_sigma)).square() * -0.5 - log_sigma - log_root_two_pi;
}

at::Tensor GaussianDistribution::sample(const Key& key, const at::Tensor& raw) const {
  const c10::NoGradGuard without_gradient;
  return reparametrized(key, raw);
}

at::Tensor GaussianDistribution::reparametrized(const Key& key, const at::Tensor& raw) const {
  const at::Tensor mu = mean(raw);
  return mu + log_deviation(raw).exp() * normal(key, mu.sizes(), mu.options());
}

at::Tensor GaussianDistribution::mean(const at::Tensor& raw) const { return raw.narrow(-1, 0, width()); }

std::optional<at::Tensor> GaussianDistribution::kl(const at::Tensor& raw, const at::Tensor& other) const {
  const at::Tensor log_ratio = log_deviation(raw) - log_deviation(other);
  const at::Tensor distance = (mean(raw) - mean(other)) * at::exp(-log_deviation(other));
  return 0.5 * ((2 * log_ratio).exp() + distance.square() - 1) - log_ratio;
}

at::Tensor GaussianDistribution::raw_of_means(const at::Tensor& means) const {
  return shared_width() > 0 ? means.clone() : at::cat({means, at::zeros_like(means)}, -1);
}

std::string GaussianDistribution::complaint(const at::Tensor& value) const {
  const at::Tensor bad = at::logical_not(at::isfinite(value));
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}; real values must be finite", row, column,
                value[row][column].item<double>());
}

std::string GaussianDistribution::complaint_as_output() const {
  if (floor_ > 0) return {};
  return format(
      "{} has no floor of the standard deviation: data that it can predict exactly, such as pixels that never change, "
      "would raise the likelihood without limit. Give a floor, e.g. {}",
      spec(), gaussian_spec(shared_width() > 0, width(), 0.05));
}

}  // namespace harmonium
