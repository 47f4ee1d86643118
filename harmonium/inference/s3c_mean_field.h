// Structured mean field for spike-and-slab sparse coding (models/directed/s3c.h; Goodfellow, Courville & Bengio 2012):
// q(h, s) = Π_j q(h_j) q(s_j | h_j), so that a slab knows whether its unit is on.
//
// Where all other units are held, m = ĥ∘ŝ, e_j = v − a − Σ_{i≠j} w_i m_i and G = WᵀβW, the bound is highest at
//
//   γ_j = α_j + G_jj,   ŝ_j = (α_j μ_j + w_jᵀβe_j)/γ_j,
//   ĥ_j = σ(b_j + ŝ_j w_jᵀβe_j − ½ G_jj ŝ_j² − ½ α_j (ŝ_j − μ_j)² + ½ log(α_j/γ_j)),
//
// where ŝ_j does not depend on ĥ_j. Setting one unit after the other so never lowers the bound. Setting all at once is
// many times faster and may overshoot where columns of W overlap: values are damped, and a slab that would change its
// sign moves to at most `clip` times its magnitude beyond zero. All at once, then a few rounds one by one, is usual.
// The posterior of one unit is exact; that of several loses what they owe to each other's explaining away.
//
// Cost of a round: two products rows × H × H all at once; one by one as many multiplications, H small steps.
#pragma once

#include "harmonium/models/directed/s3c.h"

namespace harmonium {

struct S3cMeanFieldOptions {
  std::int64_t rounds = 20;        // of all units at once
  double damping = 0.4;            // share of the old value that is kept
  double clip = 0.5;               // in (0, 1]
  std::int64_t single_rounds = 0;  // then so many, one unit after the other
  // Begins a second time with all units on and the slabs that are then exact, and keeps for every row what has the
  // higher bound: there are local maxima.
  bool two_starts = false;
};

// Posteriors of rows, with no path to the parameters. Every row begins at the prior, ĥ = σ(b), ŝ = μ.
[[nodiscard]] S3cPosterior s3c_mean_field(const S3cTerms& terms, const at::Tensor& rows,
                                          const S3cMeanFieldOptions& options = {});

// One round, unit after unit, in place. The bound of no row falls.
void s3c_single_round_(const S3cTerms& terms, const at::Tensor& rows, S3cPosterior& q);

}  // namespace harmonium
