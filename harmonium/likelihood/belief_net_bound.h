// A lower bound on the log-likelihood of a deep belief net (models/belief_net.h).
//
// With h_1, …, h_{L−1} ~ q(· | v), the way up,
//
//   log p(v) ≥ E_q[ log p(v, h_1, …, h_{L−1}) − log q(h_1, …, h_{L−1} | v) ]
//            = E_q[ Σ_{l<L} (log f_l(h_{l−1}) − log g_l(h_l)) + log f_L(h_{L−1}) ] − log Z_L,
//
// f_l(x) = Σ_h e^{−E_l(x, h)}, g_l(h) = Σ_x e^{−E_l(x, h)}: energies of a machine cancel between the two ways. (Hinton,
// Osindero & Teh 2006; Salakhutdinov & Murray 2008.) Only the top machine's Z is needed. The bound is exact for one
// machine, and for two where the upper one is the lower one turned over.
//
// Where the way up has machines of its own (F_l, with f_l now theirs), they do not cancel, and the sum is over
//
//   log p_l(h_{l−1} | h_l) − log r_l(h_l | h_{l−1}) = log f_l(h_{l−1}) − log g_l(h_l) + F_l(h_{l−1}, h_l) −
//   E_l(h_{l−1}, h_l).
#pragma once

#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

// The square bracket for one draw of each row (float64): bound + log Z_L on average. A label of the top machine is
// summed out.
[[nodiscard]] at::Tensor belief_net_log_weights(const BeliefNet& net, const at::Tensor& visible, const Key& key);

// Mean over rows and `draws` draws of each. The kind is a lower bound where log Z_L is exact or bounded from above, and
// an estimate (of that bound, high in expectation) where it comes from AIS; exact for one machine and an exact log Z.
// The interval has the noise of draws (given the rows) and that of log Z_L.
[[nodiscard]] Estimate belief_net_bound(const BeliefNet& net, const at::Tensor& visible, const Estimate& top_log_z,
                                        std::int64_t draws, const Key& key);

}  // namespace harmonium
