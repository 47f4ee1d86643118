// The evidence lower bound of a variational recurrent net (models/directed/vrnn.h), by the path through one draw of
// every frame's latent variables:
//
//   ELBO(x_1 … x_T) = E_q Σ_t [log p(x_t | z_t, r_{t−1}) − KL(q(z_t | x_t, r_{t−1}) ‖ p(z_t | r_{t−1}))] ≤ log p(x),
//
// with every KL in closed form. The sum of one draw is unbiased, and so is its derivative by autograd: the KL of step t
// is a function of the draws before it.
#pragma once

#include "harmonium/models/directed/vrnn.h"

namespace harmonium {

// Of every packed frame.
struct VrnnTerms {
  at::Tensor log_likelihood;  // frames, float64: log p(x_t | z_t, r_{t−1})
  at::Tensor kl;              // frames × latent
  // Frames, float64: what each adds to the bound; the KL times a weight.
  [[nodiscard]] at::Tensor bound(double beta = 1) const;
};

[[nodiscard]] VrnnTerms vrnn_terms(const Vrnn& net, const Moments& leaves, const at::Tensor& values,
                                   const std::vector<std::int64_t>& alive, const Key& key);

}  // namespace harmonium
