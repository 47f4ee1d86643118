#include "harmonium/models/free_energy/gaussian_states.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/checked_cholesky.h"
#include "harmonium/models/free_energy/state_bits.h"

namespace harmonium {

double GaussianStates::work(std::int64_t inputs, std::int64_t filters, std::int64_t covariance, std::int64_t hidden) {
  if (covariance + hidden > most_state_bits) return std::numeric_limits<double>::infinity();
  const auto D = static_cast<double>(inputs), F = static_cast<double>(filters);
  return std::exp2(covariance) * (F * D * D + D * D * D / 3 + std::exp2(hidden) * D * D);
}

GaussianStates::GaussianStates(const Moments& theta)
    : theta_(theta.to(at::TensorOptions(at::kCPU).dtype(at::kDouble))),
      covariance_(theta_["covariance.bias"].size(0)),
      hidden_(theta_.contains("hidden.bias") ? theta_["hidden.bias"].size(0) : 0) {
  require(covariance_ + hidden_ <= most_state_bits, "2^{} hidden states are too many to enumerate; at most 2^{}",
          covariance_ + hidden_, most_state_bits);
  const std::int64_t D = theta_["filters.weights"].size(0), all = std::int64_t{1} << covariance_,
                     inner = std::int64_t{1} << hidden_;
  const at::Tensor mean_states = state_bits(at::arange(inner, at::kLong), hidden_);
  at::Tensor m = theta_["visible.bias"].unsqueeze(0).expand({inner, D}), bias = at::zeros({inner}, at::kDouble);
  if (hidden_ > 0) {
    m = m + mean_states.matmul(theta_["visible_hidden.weights"].t());
    bias = mean_states.matmul(theta_["hidden.bias"]);
  }
  log_weights_ = at::empty({all, inner}, at::kDouble);
  const std::int64_t widest = D * std::max({D, inner, theta_["filters.weights"].size(1)}),
                     at_once = std::max<std::int64_t>(1, state_numbers_at_once / widest);
  const double gaussian = 0.5 * static_cast<double>(D) * std::log(2 * std::numbers::pi);
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    const at::Tensor states = state_bits(at::arange(first, first + count, at::kLong), covariance_), L = factors(states);
    const at::Tensor log_root = L.diagonal(0, 1, 2).log().sum(1, /*keepdim=*/true);
    const at::Tensor y = at::linalg_solve_triangular(L, m.t().unsqueeze(0).expand({count, D, inner}), /*upper=*/false);
    log_weights_.narrow(0, first, count)
        .copy_(states.matmul(theta_["covariance.bias"]).unsqueeze(1) + bias + gaussian - log_root +
               0.5 * y.square().sum(1));
  }
}

at::Tensor GaussianStates::factors(const at::Tensor& covariance_states) const {
  const at::Tensor& C = theta_["filters.weights"];
  const at::Tensor weights =
      theta_.contains("pooling.weights") ? covariance_states.matmul(theta_["pooling.weights"].t()) : covariance_states;
  return checked_cholesky(at::eye(C.size(0), at::kDouble) + (C.unsqueeze(0) * weights.unsqueeze(1)).matmul(C.t()),
                          "precisions of the hidden states");
}

double GaussianStates::log_z() const { return at::logsumexp(log_weights_.view({-1}), 0).item<double>(); }

at::Tensor GaussianStates::draw(const Key& key, std::int64_t rows) const {
  const at::Tensor chosen = draw_states(log_weights_, key.fold_in(0), rows);
  const at::Tensor on = state_bits(at::bitwise_right_shift(chosen, hidden_), covariance_);
  const at::Tensor mean_on = state_bits(chosen.bitwise_and((std::int64_t{1} << hidden_) - 1), hidden_);
  const std::int64_t D = theta_["filters.weights"].size(0);
  const at::Tensor noise = normal(key.fold_in(1), {rows, D}, at::kDouble);
  at::Tensor m = theta_["visible.bias"].unsqueeze(0).expand({rows, D});
  if (hidden_ > 0) m = m + mean_on.matmul(theta_["visible_hidden.weights"].t());
  const at::Tensor found = at::empty({rows, D}, at::kDouble);
  const std::int64_t at_once = std::max<std::int64_t>(1, state_numbers_at_once / (D * std::max(D, on.size(1))));
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    found.narrow(0, first, count)
        .copy_(gaussian_draws(factors(on.narrow(0, first, count)), m.narrow(0, first, count),
                              noise.narrow(0, first, count)));
  }
  return found;
}

}  // namespace harmonium
