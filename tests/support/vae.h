// Small float64 VAEs of binary pixels, and log p(x) of them by quadrature over the latent variables.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/vae.h"

namespace harmonium::support {

// Every parameter ~ N(0, scale²) with a decoder far from constant; q is wide, so that weights have a variance.
inline Vae small_vae(std::int64_t latent, std::uint64_t seed = 1, std::int64_t pixels = 4) {
  Vae vae({.visible = format("bernoulli:{}", pixels), .hidden = {3}, .latent = latent, .activation = Activation::tanh},
          at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : vae.parameters().entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble) *
                            (name.starts_with("decoder") ? 1.2 : 0.3));
  vae.parameters()["encoder.layer2.bias"].narrow(0, latent, latent).fill_(0.1);  // log σ
  return vae;
}

// All rows of so many bits, 2^pixels × pixels.
inline at::Tensor all_rows(std::int64_t pixels) {
  const at::Tensor numbers = at::arange(std::int64_t{1} << pixels, at::kLong).unsqueeze(1);
  return at::bitwise_and(at::__rshift__(numbers, at::arange(pixels, at::kLong).unsqueeze(0)), 1).to(at::kDouble);
}

// One latent variable in each of two layers, as above.
inline Vae small_deep_vae(std::uint64_t seed = 1) {
  Vae vae({.visible = "bernoulli:4",
           .hidden = {3},
           .latent = 1,
           .activation = Activation::tanh,
           .above = {{.hidden = {2}, .latent = 1}}},
          at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : vae.parameters().entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble) *
                            (name.starts_with("decoder") ? 1.0 : 0.3));
  // log σ of p(z_1 | z_2) near 0: neither a copy of z_2 nor noise alone.
  vae.parameters()["decoder2.layer2.weights"].narrow(1, 1, 1).mul_(0.3);
  vae.parameters()["decoder2.layer2.bias"].narrow(0, 1, 1).fill_(-0.2);
  for (const char* bias : {"encoder.layer2.bias", "encoder2.layer2.bias"})
    vae.parameters()[bias].narrow(0, 1, 1).fill_(0.1);
  return vae;
}

// Nodes of the trapezoid rule on [−8.5, 8.5] in one or two dimensions: points × latent, and the log of a cell's volume.
// Integrands fall as N(0, 1) or faster than e^{−z²/3}, so what lies outside is below 1e-12; they are analytic with a
// scale near one, for which the error of the rule falls as e^{−2π·(scale/step)}.
struct Grid {
  at::Tensor points;
  double log_volume;
};
inline Grid grid(std::int64_t latent) {
  const std::int64_t count = latent == 1 ? 1701 : 213;
  const double step = 17.0 / static_cast<double>(count - 1);
  const at::Tensor axis = at::linspace(-8.5, 8.5, count, at::kDouble);
  if (latent == 1) return {axis.unsqueeze(1), std::log(step)};
  const std::vector<at::Tensor> mesh = at::meshgrid({axis, axis}, "ij");
  return {at::stack({mesh[0].reshape({-1}), mesh[1].reshape({-1})}, 1), 2 * std::log(step)};
}

inline at::Tensor log_standard_normal(const at::Tensor& z) {
  return (z.square() * -0.5 - 0.5 * std::log(2 * std::numbers::pi)).sum(-1);
}

// log p(x, z) of a small_vae, rows × points, written out from the parameters.
inline at::Tensor log_joint(const Vae& vae, const at::Tensor& rows, const at::Tensor& z) {
  const Moments& p = vae.parameters();
  const at::Tensor hidden = at::tanh(z.matmul(p["decoder.layer1.weights"]) + p["decoder.layer1.bias"]);
  const at::Tensor on = 1 / (1 + at::exp(-(hidden.matmul(p["decoder.layer2.weights"]) + p["decoder.layer2.bias"])));
  return rows.matmul(on.log().t()) + (1 - rows).matmul((1 - on).log().t()) + log_standard_normal(z).unsqueeze(0);
}

inline at::Tensor quadrature_log_p(const Vae& vae, const at::Tensor& rows) {
  const Grid nodes = grid(vae.structure().latent);
  return at::logsumexp(log_joint(vae, rows, nodes.points), 1) + nodes.log_volume;
}

// The same of a small_deep_vae, with its noise as nodes: z_2 = ε_2, z_1 = μ(z_2) + σ(z_2) ε_1.
inline at::Tensor deep_quadrature_log_p(const Vae& vae, const at::Tensor& rows) {
  const Moments& p = vae.parameters();
  const Grid nodes = grid(2);
  const auto net = [&](const at::Tensor& input, const std::string& prefix) {
    const at::Tensor hidden = at::tanh(input.matmul(p[prefix + "layer1.weights"]) + p[prefix + "layer1.bias"]);
    return hidden.matmul(p[prefix + "layer2.weights"]) + p[prefix + "layer2.bias"];
  };
  const at::Tensor raw = net(nodes.points.narrow(1, 1, 1), "decoder2.");
  const at::Tensor on =
      at::sigmoid(net(raw.narrow(1, 0, 1) + raw.narrow(1, 1, 1).exp() * nodes.points.narrow(1, 0, 1), "decoder."));
  const at::Tensor log_p = rows.matmul(on.log().t()) + (1 - rows).matmul((1 - on).log().t());
  return at::logsumexp(log_p + log_standard_normal(nodes.points), 1) + nodes.log_volume;
}

}  // namespace harmonium::support
