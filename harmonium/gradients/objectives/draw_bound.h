// The evidence lower bound of a DRAW net (models/directed/draw.h), by the path through one draw of every step:
//
//   ELBO(x) = E_q[log p(x | z) − Σ_t KL(q(z_t | x, z_{<t}) ‖ N(0, I))] ≤ log p(x),   every KL in closed form.
//
// The mean over rows of one draw each is unbiased, and so is its derivative by autograd: the KL of step t is a function
// of the draws before it.
#pragma once

#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/models/directed/draw.h"

namespace harmonium {

// `kl` has an entry for every step. The draw is number 0 of DrawNet::infer under the same key.
[[nodiscard]] ElboTerms draw_terms(const DrawNet& net, const Moments& leaves, const at::Tensor& rows, const Key& key);

}  // namespace harmonium
