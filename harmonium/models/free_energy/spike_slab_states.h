// The spike-and-slab RBM (spike_slab_model.h) by enumeration of its spikes: state h leaves a Gaussian integral,
//   log-weight = bᵀh + ½D log 2π − ½ log|Λ_h| + ½ m_hᵀ Λ_h⁻¹ m_h,
//   Λ_h = Λ + diag(Φh) − W diag(h/α) Wᵀ,  m_h = a + W(h ⊙ μ),
// and Z is the sum of all. A Cholesky factorization for each; everything in float64 on the CPU.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class SpikeSlabStates {
 public:
  // Multiplications for all states: 2^N (ND² + D³/3). Infinite where they would fill the memory.
  [[nodiscard]] static double work(std::int64_t inputs, std::int64_t hidden);

  // Parameters by the names of spike_slab_model.h. Fails where a Λ_h is not positive definite.
  explicit SpikeSlabStates(const Moments& theta);
  [[nodiscard]] double log_z() const;
  // Independent draws of v: a state by its probability, then the Gaussian that it leaves.
  [[nodiscard]] at::Tensor draw(const Key& key, std::int64_t rows) const;

 private:
  [[nodiscard]] at::Tensor factors(const at::Tensor& states) const;       // L of Λ_h = LLᵀ, one for each row
  [[nodiscard]] at::Tensor linear_parts(const at::Tensor& states) const;  // m_h

  Moments theta_;
  at::Tensor log_weights_;  // 2^N
};

}  // namespace harmonium
