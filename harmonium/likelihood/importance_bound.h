// Lower bounds on log p(x) of directed nets by importance sampling, and both sides on rows that the net has drawn
// itself.
//
//   p̂_K = (1/K) Σ_k w^k,   w^k = p(x, h^k)/q(h^k | x),   h^1 … h^K ~ q(h | x):   E p̂_K = p(x),
//
// so L_K = E log p̂_K ≤ log p(x), rising with K (Burda, Grosse & Salakhutdinov 2016). Cost: rows × K passes through the
// decoder. Draws are taken in pieces with running sums in float64, so that memory does not grow with K; they are
// numbered, so that the size of a piece changes nothing but the rounding of products.
//
// Own draws. Let (x, h⁰) ~ p, so that h⁰ is an exact draw of p(h | x), and put it among K − 1 draws of q. With the slot
// of h⁰ chosen at random, the K latents have the density
//
//   P(h^1 … h^K) = (1/K) Σ_k p(h^k | x) Π_{j≠k} q(h^j | x) = (p̂_K / p(x)) Q(h^1 … h^K),   Q = Π_j q(h^j | x),
//
// and p̂_K does not depend on the slot. So
//
//   E_P log p̂_K − log p(x) = KL(P ‖ Q) ≥ 0   where   log p(x) − E_Q log p̂_K = KL(Q ‖ P) ≥ 0:
//
// on such rows log p(x) is caught between two numbers, row by row, and their gap is the sum of both divergences. (For
// annealing: Grosse, Ghahramani & Adams 2015.) On data the gap may be another one.
#pragma once

#include <string>

#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

struct ImportanceBound {
  at::Tensor log_p;            // rows, float64: log p̂_K
  at::Tensor effective_draws;  // rows: (Σ w)² / Σ w², of K. Where it is near one, K is too small
  // How it rises: L_1, L_10, L_100, … of every row for all powers of ten below K (likelihood/rising_bounds.h), rows ×
  // powers; and the Pareto shape of every row's weights (likelihood/weight_tails.h), undefined where K is below 25.
  at::Tensor rising, tails;
  // Mean of log_p, a lower bound. The interval has the noise of the draws, given these rows, to first order in it: too
  // narrow where effective_draws are few.
  Estimate mean;
};
// At least two draws of each row.
[[nodiscard]] ImportanceBound importance_bound(const LatentModel& model, const Moments& parameters,
                                               const at::Tensor& rows, std::int64_t draws, const Key& key);

// How a log-likelihood calls itself that is a bound of this kind less log Z of a prior that is not normalized; its
// chains are then the draws of each row.
[[nodiscard]] inline std::string importance_method(const Estimate& log_z) {
  return "importance sampling; log Z: " + log_z.method;
}
// Those draws; 0 where an estimate was not found in this way.
[[nodiscard]] inline std::int64_t importance_draws(const Estimate& log_likelihood) {
  return log_likelihood.method.starts_with("importance sampling; log Z: ") ? log_likelihood.chains : 0;
}

struct OwnDrawBounds {
  at::Tensor lower, upper;  // rows, float64: log p̂_K without and with what made the row
  // Means over rows; intervals over rows and draws. Both use the same draws of q but for one, so that the gap between
  // them is known better than either.
  Estimate lower_bound, upper_bound;
  Interval gap_interval;  // 95 %
  // What log p̂_K may miss on rows like these, at most. Noise can make it negative.
  [[nodiscard]] double gap() const { return upper_bound.value - lower_bound.value; }
};
// From what was found for every row (on the CPU). `how`: "importance, 50 draws".
[[nodiscard]] OwnDrawBounds bounds_on_own_rows(const at::Tensor& lower, const at::Tensor& upper, const std::string& how,
                                               const Key& key);
// `count` rows, at least two, are drawn from the model.
[[nodiscard]] OwnDrawBounds own_draw_bounds(const LatentModel& model, const Moments& parameters, std::int64_t count,
                                            std::int64_t draws, const Key& key);

}  // namespace harmonium
