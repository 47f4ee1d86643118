#include "harmonium/gradients/objectives/optimal_baseline.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// E[f s²]/E[s²]; zero where no score was ever seen.
at::Tensor ratio(const at::Tensor& with_signal, const at::Tensor& alone) {
  return at::where(alone > 0, with_signal / alone.clamp_min(1e-300), at::zeros_like(alone));
}

void average(at::Tensor& kept, const at::Tensor& now, double keep) {
  kept = kept.defined() ? keep * kept.to(now.device()) + (1 - keep) * now : now;
}

}  // namespace

at::Tensor OptimalBaseline::residual(const Moments& leaves, const at::Tensor& below, const at::Tensor& above,
                                     std::size_t layer) const {
  const at::Tensor raw = below.matmul(leaves[layers_[layer].weights].detach()) + leaves[layers_[layer].bias].detach();
  return (above - raw.sigmoid()).to(at::kDouble);
}

at::Tensor OptimalBaseline::term(const Moments& leaves, const at::Tensor& below, const at::Tensor& above,
                                 std::size_t layer) const {
  const Averages& known = averages_[layer];
  const at::Tensor left = residual(leaves, below, above, layer);
  if (!known.weights.defined()) return at::zeros({left.size(0), left.size(1)}, left.options());
  const auto times = [&](const std::string& name, const at::Tensor& with_signal, const at::Tensor& alone) {
    return ratio(with_signal, alone).to(left.device()) * leaves[name].to(at::kDouble);
  };
  const at::Tensor by_weights =
      below.to(at::kDouble).matmul(times(layers_[layer].weights, known.weights_signal, known.weights));
  return (left * (by_weights + times(layers_[layer].bias, known.bias_signal, known.bias))).sum(-1);
}

void OptimalBaseline::observe(const Moments& leaves, const at::Tensor& below, const at::Tensor& above,
                              const at::Tensor& signal, std::size_t layer, double keep) {
  const c10::NoGradGuard without_gradient;
  const at::Tensor squares = residual(leaves, below, above, layer).square();
  const std::int64_t width = squares.size(2), inputs = below.size(2), count = squares.size(0) * squares.size(1);
  const at::Tensor flat = squares.reshape({count, width}),
                   weighed = (signal.unsqueeze(2) * squares).reshape({count, width}),
                   values = below.to(at::kDouble).square().expand({-1, squares.size(1), -1}).reshape({count, inputs});
  Averages& kept = averages_[layer];
  const auto rows = static_cast<double>(count);
  average(kept.weights_signal, values.t().matmul(weighed) / rows, keep);
  average(kept.weights, values.t().matmul(flat) / rows, keep);
  average(kept.bias_signal, weighed.mean(0), keep);
  average(kept.bias, flat.mean(0), keep);
}

NamedTensors OptimalBaseline::state() const {
  NamedTensors all;
  for (std::size_t l = 0; l < averages_.size(); ++l) {
    const Averages& each = averages_[l];
    if (!each.weights.defined()) continue;
    const std::string prefix = format("optimal{}.", l + 1);
    all.insert(all.end(), {{prefix + "weights_signal", each.weights_signal},
                           {prefix + "weights", each.weights},
                           {prefix + "bias_signal", each.bias_signal},
                           {prefix + "bias", each.bias}});
  }
  return all;
}

void OptimalBaseline::restore(const NamedTensors& saved) {
  for (std::size_t l = 0; l < averages_.size(); ++l) {
    const NamedTensors own = under_prefix(format("optimal{}.", l + 1), saved);
    averages_[l] = {};
    if (own.empty()) continue;
    const auto take = [&](const char* name) { return find_tensor(own, name, "a checkpoint").to(at::kDouble).clone(); };
    averages_[l] = {take("weights_signal"), take("weights"), take("bias_signal"), take("bias")};
  }
}

}  // namespace harmonium
