#include "harmonium/gradients/objectives/estimator_targets.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/gradients/objectives/bound_quadrature.h"
#include "harmonium/gradients/objectives/latent_objective.h"

namespace harmonium {

at::Tensor derivative(const at::Tensor& leaf) { return leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf); }

ParameterGradients gradient_of(
    const EnumeratedLatents& row,
    const std::function<at::Tensor(const at::Tensor& log_joint, const at::Tensor& log_q)>& value,
    const std::vector<double>& scales) {
  const c10::AutoGradMode with_gradient(true);
  const at::Tensor joint = row.log_joint().requires_grad_(), posterior = row.log_posterior().requires_grad_();
  value(joint, posterior).backward();
  std::vector<at::Tensor> layers;
  for (std::size_t l = 0; l < row.log_q.size(); ++l)
    layers.push_back(derivative(posterior) / (scales.empty() ? 1 : scales[l]));
  return {.generation = derivative(joint).matmul(row.scores_p), .recognition = at::cat(layers).matmul(row.scores_q)};
}

ParameterGradients bound_gradient(const EnumeratedLatents& row, std::int64_t draws, const std::vector<double>& scales) {
  return gradient_of(
      row,
      [&](const at::Tensor& log_joint, const at::Tensor& log_q) {
        return bound_by_quadrature(log_joint - log_q, log_q, draws);
      },
      scales);
}

at::Tensor layer_scores(const EnumeratedLatents& row, std::size_t layer) {
  return row.scores_q.narrow(0, static_cast<std::int64_t>(layer) * row.states(), row.states());
}

std::vector<at::Tensor> signals_of(const EnumeratedLatents& row) {
  return layer_signals({.latents = {}, .log_p = row.log_p, .log_q = row.log_q});
}

SettledSignals settle_signals(const std::vector<EnumeratedLatents>& rows) {
  const auto average = [&](const auto& of_row) {
    at::Tensor sum = of_row(rows.front());
    for (std::size_t i = 1; i < rows.size(); ++i) sum = sum + of_row(rows[i]);
    return sum / static_cast<double>(rows.size());
  };
  const auto q = [](const EnumeratedLatents& row) { return row.log_posterior().exp(); };
  SettledSignals result;
  for (std::size_t l = 0; l < rows.front().log_q.size(); ++l) {
    result.means.push_back(average([&](const auto& row) { return (q(row) * signals_of(row)[l]).sum(); }));
    const at::Tensor spread = average([&](const auto& row) {
      const at::Tensor f = signals_of(row)[l];
      return (q(row) * (f - row.given_layer(f, l)).square()).sum();
    });
    result.deviations.push_back(std::max(1.0, std::sqrt(spread.item<double>())));
    const at::Tensor with_signal =
        average([&](const auto& row) { return (q(row) * signals_of(row)[l]).matmul(layer_scores(row, l).square()); });
    const at::Tensor alone = average([&](const auto& row) { return q(row).matmul(layer_scores(row, l).square()); });
    result.optimal.push_back(at::where(alone > 0, with_signal / alone.clamp_min(1e-300), at::zeros_like(alone)));
  }
  return result;
}

}  // namespace harmonium
