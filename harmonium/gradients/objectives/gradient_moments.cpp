#include "harmonium/gradients/objectives/gradient_moments.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

GradientMoments moments_of_coefficients(const at::Tensor& first, const at::Tensor& second, const at::Tensor& scores,
                                        std::int64_t draws) {
  const at::Tensor mean = first.matmul(scores);
  const at::Tensor covariance = second - at::outer(first, first);
  const at::Tensor each = (covariance.matmul(scores) * scores).sum(0).clamp_min(0);
  return {.mean = mean,
          .error = draws == 0 ? at::zeros_like(each) : each / static_cast<double>(draws),
          .variance = each.sum().item<double>(),
          .exact = draws == 0,
          .exact_noise = draws == 0};
}

void DrawnGradients::add(const at::Tensor& estimate) {
  if (count_ == 0) {
    mean_ = at::zeros_like(estimate);
    squares_ = at::zeros_like(estimate);
  }
  const at::Tensor off = estimate - mean_;
  mean_ = mean_ + off / static_cast<double>(++count_);
  squares_ = squares_ + off * (estimate - mean_);
}

GradientMoments DrawnGradients::moments(std::int64_t rows) const {
  require(count_ >= 2, "a variance needs at least two estimates, not {}", count_);
  const at::Tensor each = squares_ / static_cast<double>(count_ - 1);
  return {.mean = mean_,
          .error = each / static_cast<double>(count_),
          .variance = static_cast<double>(rows) * each.sum().item<double>()};
}

EstimatorPart compare_with(const GradientMoments& found, const std::string& name, const at::Tensor& target,
                           const at::Tensor& target_error) {
  EstimatorPart part{.target = name,
                     .moved = true,
                     .variance = found.variance,
                     .exact = found.exact && !target_error.defined(),
                     .exact_noise = found.exact_noise};
  const double length = found.mean.norm().item<double>();
  if (found.variance > 0) part.signal_to_noise = length / std::sqrt(found.variance);
  if (!target.defined()) return part;
  const at::Tensor off = found.mean - target;
  at::Tensor error = found.error;
  if (target_error.defined()) error = error + target_error;
  part.target_norm = target.norm().item<double>();
  if (part.target_norm > 0) {
    part.bias = off.norm().item<double>() / part.target_norm;
    part.bias_error = std::sqrt(error.sum().item<double>()) / part.target_norm;
  }
  // A component without any noise must agree but for rounding, and says nothing here.
  const at::Tensor known = error > 1e-24 * error.max().clamp_min(1e-300);
  if (!part.exact && known.any().item<bool>())
    part.worst = (off.abs() / error.clamp_min(1e-300).sqrt()).masked_select(known).max().item<double>();
  return part;
}

}  // namespace harmonium
