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

// Two layers of one latent variable each, every map linear, the encoder exact:
//   z_1 = b + a z_2 + s ε,   x = c + z_1 w + σ ε′,   p(z_1) = N(b, v) with v = a² + s²,
//   q(z_1 | x) = N(τ (b/v + (x − c) w/σ²), τ) with 1/τ = 1/v + w²/σ²,   q(z_2 | z_1) = N(a (z_1 − b)/v, s²/v).
inline LinearVae deep_linear_vae() {
  constexpr double floor = 0.1, raw_deviation = -0.7, a = 0.8, b = 0.4, log_s = -0.5;
  const double sigma = floor + std::exp(raw_deviation), s = std::exp(log_s), v = a * a + s * s;
  Vae vae({.visible = "shared_gaussian:3:0.1", .hidden = {}, .latent = 1, .above = {{.hidden = {}, .latent = 1}}},
          at::kDouble);
  const at::Tensor w = at::tensor({1.0, -0.5, 2.0}, at::kDouble), c = at::tensor({0.3, -0.2, 1.1}, at::kDouble);
  const double precision = 1 / v + w.square().sum().item<double>() / (sigma * sigma), tau = 1 / precision;
  Moments& p = vae.parameters();
  p["decoder.layer1.weights"].copy_(w.unsqueeze(0));
  p["decoder.layer1.bias"].copy_(c);
  p["visible.shared"].fill_(raw_deviation);
  p["decoder2.layer1.weights"].copy_(at::tensor({a, 0.0}, at::kDouble).unsqueeze(0));
  p["decoder2.layer1.bias"].copy_(at::tensor({b, log_s}, at::kDouble));
  p["encoder.layer1.weights"].select(1, 0).copy_(tau / (sigma * sigma) * w);
  p["encoder.layer1.bias"].copy_(
      at::tensor({tau * (b / v - c.dot(w).item<double>() / (sigma * sigma)), 0.5 * std::log(tau)}, at::kDouble));
  p["encoder2.layer1.weights"].copy_(at::tensor({a / v, 0.0}, at::kDouble).unsqueeze(0));
  p["encoder2.layer1.bias"].copy_(at::tensor({-a * b / v, std::log(s) - 0.5 * std::log(v)}, at::kDouble));
  return {vae, b * w + c, v * at::outer(w, w) + sigma * sigma * at::eye(3, at::kDouble)};
}

}  // namespace harmonium::support
