// Gradients that estimates are meant for, and what running means converge to: sums over enumerated latent states.
#pragma once

#include <functional>
#include <vector>

#include "harmonium/gradients/objectives/enumerated_latents.h"

namespace harmonium {

// Of one row, by the parameters of p and of q.
struct ParameterGradients {
  at::Tensor generation, recognition;
};
// Of a function of log p(x, h) and log q(h | x), states each. Layers of q may be divided by `scales`.
[[nodiscard]] ParameterGradients gradient_of(
    const EnumeratedLatents& row,
    const std::function<at::Tensor(const at::Tensor& log_joint, const at::Tensor& log_q)>& value,
    const std::vector<double>& scales = {});
// ∇L_K.
[[nodiscard]] ParameterGradients bound_gradient(const EnumeratedLatents& row, std::int64_t draws,
                                                const std::vector<double>& scales = {});
// ∂value/∂leaf after backward(); zeros where the value does not depend on it.
[[nodiscard]] at::Tensor derivative(const at::Tensor& leaf);

// Signals of a layer (latent_objective.h) on average over rows and draws of q.
struct SettledSignals {
  std::vector<at::Tensor> means;    // layers: E f_l
  std::vector<double> deviations;   // layers: max(1, √E(f_l − E[f_l | h_{l−1}])²), by which nvil divides
  std::vector<at::Tensor> optimal;  // layers: E[f_l s²]/E[s²] of every parameter of q
};
[[nodiscard]] SettledSignals settle_signals(const std::vector<EnumeratedLatents>& rows);
// f_l of every state.
[[nodiscard]] std::vector<at::Tensor> signals_of(const EnumeratedLatents& row);
// ∂log q(h_l | h_{l−1})/∂φ of every state.
[[nodiscard]] at::Tensor layer_scores(const EnumeratedLatents& row, std::size_t layer);

}  // namespace harmonium
