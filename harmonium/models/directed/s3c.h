// Spike-and-slab sparse coding, S3C (Goodfellow, Courville & Bengio 2012): a row v of D real values is a sum of few
// columns of W, each with a real coefficient. For units j = 1 … H
//
//   h_j ~ Bernoulli(σ(b_j)),   s_j | h_j ~ N(h_j μ_j, 1/α_j),   v ~ N(a + W(h∘s), diag(1/β)).
//
// Directed, so p(v) is a density whatever the parameters. The slab of a unit that is off does not reach v. Given spikes
// all is Gaussian: with A the units that are on, r = Wᵀβ(v − a) + αμ and P = diag(α) + WᵀβW,
//
//   log p(v, h) = Σ_j [h_j b_j − log(1 + e^{b_j})] + log N(v; a, 1/β) + ½ Σ_A [log α − αμ²] − ½ log|P_AA| +
//                 ½ r_Aᵀ P_AA⁻¹ r_A,
//
// which is p(h) N(v; a + W(h∘μ), β⁻¹ + W diag(h/α) Wᵀ) without a matrix of D × D. Cost of one: O(|A|³). All is float64
// whatever the type of the parameters, which are "visible.bias" a, "visible.log_precision" log β, "weights" W (D × H),
// "spike.bias" b, "slab.mean" μ and "slab.log_precision" log α.
//
// A scale is free: (w_j n, μ_j/n, α_j n²) is the same density. canonical() chooses the one where columns have length 1.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

struct S3cStructure {
  std::int64_t inputs = 64, hidden = 64;
};

// Parameters as a pass over rows needs them, made once for all rows: float64, differentiable in what they come from.
struct S3cTerms {
  at::Tensor a, beta, W, b, mu, alpha;
  at::Tensor products;  // WᵀβW, H × H

  explicit S3cTerms(const Moments& parameters);
  // Wᵀβ(v − a), rows × H.
  [[nodiscard]] at::Tensor fields(const at::Tensor& rows) const;
  // log N(v; a, 1/β) of every row.
  [[nodiscard]] at::Tensor log_noise(const at::Tensor& rows) const;
};

// A posterior of rows, q(h_j = 1) = ĥ_j, q(s_j | h_j = 1) = N(ŝ_j, 1/γ_j); q(s_j | h_j = 0) is the prior N(0, 1/α_j).
struct S3cPosterior {
  at::Tensor spikes, slabs;  // ĥ, ŝ: rows × H
  at::Tensor precision;      // γ, H
  // E[h∘s] = ĥ∘ŝ.
  [[nodiscard]] at::Tensor codes() const;
};

class S3c {
 public:
  // Parameters are zero, but for precisions of 1.
  explicit S3c(S3cStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const S3cStructure& structure() const { return structure_; }
  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied). Fails where names or shapes are others.
  [[nodiscard]] S3c with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] S3c to(const at::TensorOptions& options) const;
  // Whether all parameters are finite, and precisions neither overflow nor vanish.
  [[nodiscard]] bool in_domain() const;

  // Exact by the sum over all 2^H states of the spikes.
  static constexpr std::int64_t most_enumerated = 20;
  [[nodiscard]] bool can_enumerate() const { return structure_.hidden <= most_enumerated; }
  struct Enumeration {
    at::Tensor log_p;   // log p(v) of every row
    at::Tensor spikes;  // P(h_j = 1 | v), rows × H
  };
  [[nodiscard]] Enumeration enumerate(const at::Tensor& rows) const;

  struct Draws {
    at::Tensor spikes, slabs;  // rows × H
    at::Tensor means, rows;    // a + W(h∘s), and with noise
  };
  // Independent and exact. Row r depends on (key, r) alone.
  [[nodiscard]] Draws sample(const Key& key, std::int64_t rows) const;
  // a + W codes, rows × D, float64.
  [[nodiscard]] at::Tensor decode(const at::Tensor& codes) const;

 private:
  S3cStructure structure_;
  Moments parameters_;
};

// Fails where rows are no table of so many columns; else float64, where the terms are.
[[nodiscard]] at::Tensor s3c_rows(const S3cTerms& terms, const at::Tensor& rows);

// log p(v, h) with slabs summed out, for `spikes` of zeros and ones, rows × K × H: rows × K. Only matrices of the units
// that are on are factorized.
[[nodiscard]] at::Tensor s3c_log_joint(const S3cTerms& terms, const at::Tensor& rows, const at::Tensor& spikes);

// log p(h) of the same.
[[nodiscard]] at::Tensor s3c_log_prior(const S3cTerms& terms, const at::Tensor& spikes);

// The variational bound of every row, at most log p(v), with m = ĥ∘ŝ and G = WᵀβW:
//
//   log N(v; a + W m, 1/β) − ½ Σ_j G_jj (ĥ_j(ŝ_j² + 1/γ_j) − m_j²) − Σ_j KL(ĥ_j ‖ σ(b_j))
//     − ½ Σ_j ĥ_j [log(γ_j/α_j) + α_j/γ_j + α_j(ŝ_j − μ_j)² − 1].
//
// Differentiable in the parameters at a fixed q, and in q.
[[nodiscard]] at::Tensor s3c_bound(const S3cTerms& terms, const at::Tensor& rows, const S3cPosterior& q);

// The same density with columns of W of length 1. Columns of length 0 stay.
[[nodiscard]] Moments s3c_canonical(const Moments& parameters);

}  // namespace harmonium
