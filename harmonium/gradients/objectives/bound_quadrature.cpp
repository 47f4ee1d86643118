#include "harmonium/gradients/objectives/bound_quadrature.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr double step = 0.2;
constexpr double least = -1 + 1e-15;  // of φ − 1: where φ has died out its logarithm must stay a number

// Nodes u, as a column. To the left both terms agree to within t² E w²; to the right all weights have died out.
at::Tensor nodes(const at::Tensor& log_relative, std::int64_t draws) {
  const double largest = log_relative.max().item<double>(), smallest = log_relative.min().item<double>();
  constexpr double margin = 40, tail = 5;
  const double from = -margin - std::max(0.0, largest), to = tail - std::min(0.0, smallest) + std::log(double(draws));
  const auto count = static_cast<std::int64_t>(std::ceil((to - from) / step)) + 1;
  return (from + step * at::arange(count, at::kDouble)).unsqueeze(1);
}

}  // namespace

at::Tensor bound_by_quadrature(const at::Tensor& log_w, const at::Tensor& log_q, std::int64_t draws) {
  require(draws >= 1, "a bound needs at least one draw, not {}", draws);
  const at::Tensor log_mean = at::logsumexp(log_q + log_w, 0), relative = log_w - log_mean;
  const at::Tensor u = nodes(relative.detach(), draws);
  const auto k = static_cast<double>(draws);
  // φ − 1 = Σ q (e^{−s w} − 1), without the cancellation that φ would have.
  const at::Tensor decay = -at::exp(u - std::log(k) + relative);
  const at::Tensor below_one = (log_q.exp() * at::expm1(decay)).sum(1);
  const at::Tensor power = k * at::log1p(below_one.clamp_min(least));
  return log_mean + step * (at::expm1(-at::exp(u.squeeze(1))) - at::expm1(power)).sum();
}

at::Tensor mean_shares(const at::Tensor& log_w, const at::Tensor& log_q, std::int64_t draws) {
  require(draws >= 1, "a mean weight needs at least one draw, not {}", draws);
  const at::Tensor log_mean = at::logsumexp(log_q + log_w, 0), relative = log_w - log_mean;
  // Here t is that of one draw, K times smaller than above.
  const auto k = static_cast<double>(draws);
  const at::Tensor u = nodes(relative.detach(), draws) - std::log(k);
  const at::Tensor decay = -at::exp(u + relative);
  const at::Tensor log_phi = at::log1p((log_q.exp() * at::expm1(decay)).sum(1, /*keepdim=*/true).clamp_min(least));
  return step * (k * at::exp(log_q + relative + u + decay + (k - 1) * log_phi)).sum(0);
}

}  // namespace harmonium
