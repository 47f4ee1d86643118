// Gradients by automatic differentiation: the one place that uses it.
#pragma once

#include <functional>

#include "harmonium/core/moments.h"

namespace harmonium {

struct LossGradient {
  at::Tensor loss;   // one number, where the parameters are, so that nobody waits for a device
  Moments gradient;  // of that; entries that the loss does not depend on are absent
};

// `loss` is called once, with copies of the parameters that record what is done with them.
[[nodiscard]] LossGradient loss_gradient(const Moments& parameters,
                                         const std::function<at::Tensor(const Moments& leaves)>& loss);

// ∂loss/∂leaf alone: other leaves get nothing, and the loss can be differentiated again.
[[nodiscard]] at::Tensor gradient_kept_apart(const at::Tensor& loss, const at::Tensor& leaf);

}  // namespace harmonium
