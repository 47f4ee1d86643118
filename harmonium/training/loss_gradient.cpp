#include "harmonium/training/loss_gradient.h"

namespace harmonium {

LossGradient loss_gradient(const Moments& parameters, const std::function<at::Tensor(const Moments& leaves)>& loss) {
  const Moments leaves = parameters.map([](const at::Tensor& value) { return value.detach().requires_grad_(); });
  const at::Tensor total = loss(leaves);
  total.backward();
  LossGradient result{.loss = total.detach(), .gradient = {}};
  for (const auto& [name, leaf] : leaves.entries())
    if (leaf.grad().defined()) result.gradient.insert(name, leaf.grad());
  return result;
}

at::Tensor gradient_kept_apart(const at::Tensor& loss, const at::Tensor& leaf) {
  loss.backward({}, /*retain_graph=*/true, /*create_graph=*/false, at::TensorList(leaf));
  return leaf.grad();
}

}  // namespace harmonium
