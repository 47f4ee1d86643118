// All latent states of one row, with everything that expectations of gradient estimates are made of.
//
// The estimates of latent_objective.h are linear in the scores of their draws: with s_p(h) = ∂log p(x, h)/∂θ and
// s_l(h) = ∂log q(h_l | h_{l−1})/∂φ, an estimate from h^1 … h^K is Σ_k c_k s_p(h^k) for θ and Σ_{k,l} a_kl s_l(h^k) for
// φ. So the scores of the 2^n states of n binary latents are all that has to be asked of the nets. Memory: 2^n ×
// (layers
// + 1) × parameters in float64. Cost: as many backward passes.
#pragma once

#include <vector>

#include "harmonium/gradients/objectives/studied_net.h"

namespace harmonium {

struct EnumeratedLatents {
  std::vector<at::Tensor> latents;       // h_1 … h_L: states × width
  std::vector<at::Tensor> log_p, log_q;  // as in Trace, states each
  at::Tensor scores_p;                   // states × parameters of p
  at::Tensor scores_q;                   // layers·states × parameters of q, layer by layer

  [[nodiscard]] std::int64_t states() const { return log_q.front().size(0); }
  [[nodiscard]] at::Tensor log_joint() const;      // log p(x, h)
  [[nodiscard]] at::Tensor log_posterior() const;  // log q(h | x)
  // States whose numbers are rows × K, with their logarithms as leaves of their own; latents are left out.
  [[nodiscard]] Trace draw(const at::Tensor& numbers) const;
  // E[f | h_{l}] under q for a number of each state, where h_0 = x: states.
  [[nodiscard]] at::Tensor given_layer(const at::Tensor& values, std::size_t layer) const;
};

// K draws of a row: numbers of states, tuples × K, and the probability of each tuple.
struct LatentTuples {
  at::Tensor numbers, weights;
  std::int64_t drawn = 0;  // 0: all there are
};
// Draws are exchangeable: tuples in rising order, each with the probability of all its orders.
[[nodiscard]] LatentTuples all_tuples(const EnumeratedLatents& row, std::int64_t draws);
[[nodiscard]] LatentTuples drawn_tuples(const EnumeratedLatents& row, std::int64_t draws, std::int64_t count,
                                        const Key& key);

// All states of so many bits, 2^n × n, float64: bit j of the number of a state is column j.
[[nodiscard]] at::Tensor all_states(std::int64_t bits);
// One row of data.
[[nodiscard]] EnumeratedLatents enumerate_latents(const StudiedNet& net, const at::Tensor& row);
// The same states, scored in one pass and differentiable in `leaves`: one row × states.
[[nodiscard]] Trace enumerated_trace(const StudiedNet& net, const Moments& leaves, const at::Tensor& row);
// Gradients of a number by the parameters of q (true) or p, in one vector; zero where it has none.
[[nodiscard]] at::Tensor flat_gradient(const StudiedNet& net, const Moments& leaves, const at::Tensor& value,
                                       bool recognition);

}  // namespace harmonium
