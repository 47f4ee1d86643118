// log p(x) of rows of a sigmoid belief net from below by mean field (Saul, Jaakkola & Jordan 1996): a bound that draws
// nothing, and needs no inference net.
//
// q(h) = Π Bernoulli(μ_j), a free μ for every row. For each unit i with input a_i = b_i + Σ_j h_j W_ji from above,
//
//   log p(x) ≥ Σ_i { μ_i E[a_i] − E log(1 + e^{a_i}) } + H(q),   μ_i the data where i is visible,
//   E log(1 + e^a) ≤ ξ E[a] + log E[e^{−ξa} + e^{(1−ξ)a}]   for every ξ in [0, 1],
//   E e^{ta} = e^{tb} Π_j (1 − μ_j + μ_j e^{tW_j}),
//
// the second line because log(1 + e^a) = ξa + log(e^{−ξa} + e^{(1−ξ)a}) and Jensen's inequality. μ and ξ of all rows
// climb this by Adam from the means of the net's own recognition and ξ = σ(E[a]), which is exact where a does not vary.
// Cost: steps × rows × twice the number of weights exponentials. Where layers explain data in several ways one
// factorial q cannot, and the bound is loose.
#pragma once

#include "harmonium/likelihood/exact.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

struct MeanFieldBoundOptions {
  std::int64_t steps = 200;
  double rate = 0.1;       // of the log-odds of μ and ξ; falls to zero
  Progress progress = {};  // told of rows; throws to stop
};

struct MeanFieldBound {
  at::Tensor log_p;               // rows, float64: lower bounds
  std::vector<at::Tensor> means;  // μ of each latent layer, rows × width, float64
};

// Fails where mean_field_complaint() is not empty: the bound is for binary data, a factorial prior, and no
// deterministic layers.
[[nodiscard]] std::string mean_field_complaint(const SigmoidBeliefNet& net);
[[nodiscard]] MeanFieldBound mean_field_bound(const SigmoidBeliefNet& net, const at::Tensor& rows,
                                              const MeanFieldBoundOptions& options = {});

// What an answer by this bound calls its method, and whether one was found in this way.
inline constexpr const char* mean_field_bound_method = "mean field (Saul, Jaakkola & Jordan 1996)";
[[nodiscard]] inline bool is_mean_field_bound(const Estimate& estimate) {
  return estimate.method == mean_field_bound_method;
}

}  // namespace harmonium
