#include "harmonium/likelihood/weights.h"

#include <algorithm>
#include <cmath>

#include "harmonium/likelihood/bootstrap.h"

namespace harmonium {

std::int64_t pareto_tail(std::int64_t weights) {
  constexpr std::int64_t fewest = 25;
  const auto n = static_cast<double>(weights);
  return weights < fewest ? 0 : static_cast<std::int64_t>(std::ceil(std::min(0.2 * n, 3 * std::sqrt(n))));
}

// The posterior mean of Zhang & Stephens over a grid of θ = −k/σ, with the weak prior k ≈ ½ of ten observations that
// Vehtari et al. (2024) add for small tails.
double pareto_shape(const at::Tensor& exceedances) {
  const at::Tensor x = exceedances.to(at::kDouble);
  const std::int64_t n = x.size(0), grid = 30 + static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  const double largest = x[-1].item<double>(), quartile = x[std::max<std::int64_t>(0, (n + 2) / 4 - 1)].item<double>();
  if (largest <= 0 || quartile <= 0) return 0;  // no tail to speak of
  const at::Tensor j = at::arange(1, grid + 1, at::kDouble);
  const at::Tensor theta = 1 / largest + (1 - (static_cast<double>(grid) / (j - 0.5)).sqrt()) / (3 * quartile);
  // k(θ) = mean log(1 − θ x); log-likelihood n (log(−θ/k) − k − 1), in their sign of k.
  const at::Tensor shape = at::log1p(-theta.unsqueeze(1) * x.unsqueeze(0)).mean(1);
  const at::Tensor log_likelihood = static_cast<double>(n) * (at::log(-theta / shape) - shape - 1);
  const at::Tensor weight = at::softmax(log_likelihood, 0);
  const double best = (weight * theta).sum().item<double>();
  const double k = at::log1p(-best * x).mean().item<double>();
  constexpr double prior = 10;
  return (k * static_cast<double>(n) + 0.5 * prior) / (static_cast<double>(n) + prior);
}

WeightDiagnostics diagnose(const at::Tensor& log_weights) {
  const at::Tensor x = log_weights.to(at::kDouble);
  const std::int64_t n = x.size(0);
  WeightDiagnostics result{.effective_samples = effective_sample_size(x),
                           .largest_share = std::exp((x.max() - at::logsumexp(x, 0)).item<double>()),
                           .deviation = n > 1 ? x.std().item<double>() : 0,
                           .pareto_k = std::nullopt};
  const std::int64_t tail = pareto_tail(n);
  if (tail == 0) return result;
  const at::Tensor sorted = std::get<0>((x - x.max()).exp().sort());
  result.pareto_k = pareto_shape(sorted.narrow(0, n - tail, tail) - sorted[n - tail - 1]);
  return result;
}

}  // namespace harmonium
