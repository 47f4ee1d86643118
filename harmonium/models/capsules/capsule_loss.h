// What capsules minimize: the mean squared error of a pixel, and penalties that keep gradients alive.
//
//   error         mean over rows and pixels of (x − x̂)²
//   weight decay  α Σ_j max(0, |θ_j| − 0.1)² over all parameters
//   code decay    α · mean over rows of Σ max(0, |c| − 0.1)², c = preferences, distortions and poses measured from
//   rest,
//                 of all composites, chosen or not (without composites: poses of parts, from the size they begin with)
//   scaling       α · mean over rows and parts of max(0, 1 − det A)²: no part larger than the picture, none mirrored
//   sharing       −α Σ_i log(mean over rows of y_i): every composite is used; as logsumexp of log y, so that a share
//                 that underflows still has a gradient that raises it
//
// Of the coefficients the first is the thesis's (Tieleman 2014, chapter 2), the others are reasoned starts.
#pragma once

#include "harmonium/models/capsules/capsule_autoencoder.h"

namespace harmonium {

struct CapsulePenalties {
  double weight_decay = 1e-6, code_decay = 1e-6, scaling = 1e-2, sharing = 2e-5;
};

// One number each, differentiable; penalties with their coefficients.
struct CapsuleLoss {
  at::Tensor error, weight_decay, code_decay, scaling, sharing;
  [[nodiscard]] at::Tensor total() const;  // the sum
};

// Of a model under its own parameters.
[[nodiscard]] CapsuleLoss capsule_loss(const CapsuleAutoencoder& model, const at::Tensor& images,
                                       const CapsulePenalties& penalties, const CapsuleDisturbance& disturbance);

}  // namespace harmonium
