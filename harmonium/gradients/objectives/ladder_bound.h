// The evidence lower bound of a ladder of latent variables (models/directed/ladder.h), by the path through one draw of
// every level:
//
//   ELBO(x) = E_q[log p(x | z)] − Σ_l E_q(z_{>l} | x)[KL_l] ≤ log p(x),   KL_l in closed form given the levels above.
//
// The mean over rows of one draw each is unbiased, and so is its derivative by autograd. What is climbed may differ
// from the bound, what is reported never does:
//
//   mean log p(x | z) − β Σ_l max(λ, mean KL_l),   β: warm-up (Sønderby et al. 2016),  λ: free nats of each level
//                                                  (Kingma et al. 2016),
//
// with the means over the rows of a batch. A level below λ nats is left alone by the KL, so that none is given up
// before the net has found a use for it.
#pragma once

#include <vector>

#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/models/directed/ladder.h"

namespace harmonium {

struct LadderTerms {
  at::Tensor log_likelihood;   // rows, float64: log p(x | z)
  std::vector<at::Tensor> kl;  // of each level from the data up, rows, float64
  // The mean over rows, a scalar.
  [[nodiscard]] at::Tensor bound() const;
  // What is climbed.
  [[nodiscard]] at::Tensor objective(const ElboOptions& options) const;
};
// The draw is number 0 of Ladder::infer under the same key.
[[nodiscard]] LadderTerms ladder_terms(const Ladder& ladder, const Moments& leaves, const at::Tensor& rows,
                                       const Key& key);

// Of many rows, without a gradient.
struct LadderFindings {
  double bound = 0;            // the mean of one draw of each row
  std::vector<double> kl;      // of each level, mean over rows
  at::Tensor kl_of_variables;  // of all levels side by side, float64
  // Variables of each level with a variance over rows of Δμ above 0.01: what the data move (Burda, Grosse &
  // Salakhutdinov 2016).
  std::vector<std::int64_t> active;
};
// At least two rows, taken in blocks.
[[nodiscard]] LadderFindings ladder_findings(const Ladder& ladder, const Moments& parameters, const at::Tensor& rows,
                                             const Key& key);

}  // namespace harmonium
