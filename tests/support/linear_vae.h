// A linear Gaussian VAE whose encoder is the exact posterior: probabilistic PCA (Tipping & Bishop 1999).
//
// x = z W + b + σ ε with orthogonal rows of W (2 × 3), so that the posterior is diagonal:
//   M = W Wᵀ + σ² I,   q = N((x − b) Wᵀ M⁻¹, σ² M⁻¹),   p(x) = N(b, Wᵀ W + σ² I).
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "harmonium/models/directed/vae.h"

namespace harmonium::support {

struct LinearVae {
  Vae vae;
  at::Tensor bias, covariance;
  // log N(x; b, covariance) of every row.
  [[nodiscard]] at::Tensor log_p(const at::Tensor& rows) const {
    const at::Tensor centred = rows - bias;
    const at::Tensor distance = (centred.matmul(at::inverse(covariance)) * centred).sum(1);
    return -0.5 * (distance + at::logdet(covariance) + 3 * std::log(2 * std::numbers::pi));
  }
};

inline LinearVae linear_vae(bool shared_deviation) {
  constexpr double floor = 0.1, raw_deviation = -0.7;
  const double sigma = floor + std::exp(raw_deviation);
  Vae vae({.visible = shared_deviation ? "shared_gaussian:3:0.1" : "gaussian:3:0.1", .hidden = {}, .latent = 2},
          at::kDouble);
  const at::Tensor w = at::tensor({1.0, 2.0, 0.5, 1.0, -0.5, 0.0}, at::kDouble).reshape({2, 3});
  const at::Tensor bias = at::tensor({0.3, -0.2, 1.1}, at::kDouble);
  const at::Tensor m = w.square().sum(1) + sigma * sigma;  // the diagonal of M
  Moments& p = vae.parameters();
  p["encoder.layer1.weights"].narrow(1, 0, 2).copy_(w.t() / m);
  p["encoder.layer1.bias"].narrow(0, 0, 2).copy_(-bias.matmul(w.t() / m));
  p["encoder.layer1.bias"].narrow(0, 2, 2).copy_(std::log(sigma) - 0.5 * m.log());
  p["decoder.layer1.weights"].narrow(1, 0, 3).copy_(w);
  p["decoder.layer1.bias"].narrow(0, 0, 3).copy_(bias);
  if (shared_deviation)
    p["visible.shared"].fill_(raw_deviation);
  else
    p["decoder.layer1.bias"].narrow(0, 3, 3).fill_(raw_deviation);
  return {vae, bias, w.t().matmul(w) + sigma * sigma * at::eye(3, at::kDouble)};
}

}  // namespace harmonium::support
