// Up–down, the contrastive wake–sleep algorithm (Hinton, Osindero & Teh 2006, appendix B): what all weights of a belief
// net (models/belief_net.h) learn from one batch, those of the way down, of the way up and of the top machine.
//
// With q(h | v) = Π_{l<L} r_l(h_l | h_{l−1}), the way up, and Z that of the top machine, the bound on log p(v) is
//
//   B = E_q[ Σ_{l<L} log p_l(h_{l−1} | h_l) + log f_L(h_{L−1}, label) − Σ_{l<L} log r_l(h_l | h_{l−1}) ] − log Z.
//
// Wake. The parameters θ_l of p_l and η of the top machine occur under the expectation only, so for draws h ~ q
//
//   ∂B/∂θ_l = E_q[ ∂ log p_l(h_{l−1} | h_l) ]             = E_q[ g_l(h_{l−1}, h_l) − E_{p_l}[g_l(x, h_l) | h_l] ],
//   ∂B/∂η   = E_q[ E[g | h_{L−1}, label] ] − E_top[g],
//
// g the statistics of a machine: the delta rule (x − E[x | h]) hᵀ, and data moments − model moments. The first is exact
// for the draws; E_top comes from a negative phase that starts where the way up ends (cd, as published) or goes on with
// its chains (pcd).
//
// Sleep. ∂B/∂φ_l for the parameters of r_l has high variance, since q is what is averaged over. In its place the way up
// learns what the net itself has made: v, h_1, …, h_{L−1} ~ p by ancestors, from h_{L−1} of the top machine's chains,
//
//   ∂/∂φ_l E_p[ log r_l(h_l | h_{l−1}) ] = E_p[ g_l(h_{l−1}, h_l) − E_{r_l}[g_l(h_{l−1}, y) | h_{l−1}] ]:
//
// it makes KL(p(h | v) ‖ q(h | v)) small on average over p(v), the other way round than in B. So neither phase nor both
// together climb a function; the bound before and after says whether it helped.
#pragma once

#include "harmonium/gradients/negative_phase.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

// ∂/∂η of the average over rows of log p(x_layer | all other layers), shaped like the machine's parameters: statistics
// less their expectation given the others. Entries that the conditional does not depend on are zero. `weights` (rows,
// summing to one) replaces the plain average where defined.
[[nodiscard]] Moments conditional_gradient(const BoltzmannMachine& machine, std::size_t layer, const State& state,
                                           const at::Tensor& weights = {});

// What was drawn in the two phases, from the data up: v, h_1, …, h_{L−1}.
struct WakeSleepStates {
  std::vector<at::Tensor> awake, asleep;
};

struct WakeSleepGradient {
  Moments gradient;  // as parameters_of(net)
  WakeSleepStates states;
};

// `label` (rows × classes, one-hot) is needed where the top machine has one, and undefined where not. The negative
// phase must have particles. The net must be untied.
[[nodiscard]] WakeSleepGradient wake_sleep_gradient(const BeliefNet& net, NegativePhase& top_phase,
                                                    const at::Tensor& visible, const at::Tensor& label, const Key& key);

}  // namespace harmonium
