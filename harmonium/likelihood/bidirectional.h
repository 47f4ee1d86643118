// The bidirectional Helmholtz machine of a directed net (Bornschein, Shabanian, Fischer & Bengio 2016): p(x, h) and
// q(h | x), with q(x) := p*(x), meet halfway,
//
//   p*(x, h) ∝ √(p(x, h) q(x, h)),   p*(x) = p̃(x)/Z²,   p̃(x) = (Σ_h √(p(x, h) q(h | x)))² ≤ p(x),   Z² = Σ_x p̃(x) ≤ 1.
//
// With w = p(x, h)/q(h | x) and draws h^k ~ q(h | x), (1/K) Σ √w^k is unbiased for √p̃(x): 2 log of it is low in the
// mean for log p̃(x), and so a lower bound of log p(x) and of log p*(x). With (x, h) ~ p and h' ~ q(h' | x),
//
//   Z² = E √(w(h')/w(h)),
//
// unbiased, so that its logarithm is low in the mean and log p*(x) = log p̃(x) − log Z² is an estimate, no bound.
#pragma once

#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

struct BidirectionalBound {
  at::Tensor log_p;  // rows, float64: 2 log (1/K) Σ √w
  Estimate mean;     // a lower bound; the interval has the noise of draws, given these rows
};
// At least two draws of each row.
[[nodiscard]] BidirectionalBound bidirectional_bound(const LatentModel& model, const Moments& parameters,
                                                     const at::Tensor& rows, std::int64_t draws, const Key& key);
// log Z² from `count` rows of the net's own, at least two, with `draws` draws of q each.
[[nodiscard]] Estimate bidirectional_log_z2(const LatentModel& model, const Moments& parameters, std::int64_t count,
                                            std::int64_t draws, const Key& key);

// Whether an answer was found in this way.
[[nodiscard]] inline bool is_bidirectional(const Estimate& estimate) {
  return estimate.method.starts_with("bidirectional");
}

}  // namespace harmonium
