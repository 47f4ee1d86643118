// log Z by Bennett's acceptance ratio (Bennett 1976; Meng & Wong 1996 call it bridge sampling): both ways of annealing
// along one path, put together.
//
// With a_i the log-weights of n_F walks up (E[e^a] = Z) and b_j those of n_R walks down, in the same shape (E[e^{−b}] =
// 1/Z), a walk down sees b with the density e^{b}/Z times that of a walk up (Crooks), since sweeps are reversible. The
// estimate with the least variance of all that use both is the root c = log Z of
//   Σ_i σ(a_i − c − m) = Σ_j σ(c + m − b_j),   m = log(n_F / n_R).
// The left side falls and the right one rises with c: there is one root. Where the two ways overlap its error is
// smaller than that of either; where they do not, it lies between them and its interval is too narrow, so it belongs
// beside the bounds and not in their place. As reverse AIS it is as good as the samples that walks down begin at.
#pragma once

#include "harmonium/likelihood/ais.h"

namespace harmonium {

// The root for given weights, float64, one number each.
[[nodiscard]] double bennett_log_z(const at::Tensor& forward, const at::Tensor& reverse);

// Value and 95 % interval (1000 resamples of the walks of each way) from ais() and reverse_ais() along the same path.
[[nodiscard]] Estimate bennett(const AisResult& forward, const AisResult& reverse, std::uint64_t seed);

}  // namespace harmonium
