// Models that are Gaussian given their binary hidden units, by enumeration of those: covariance_rbm and mcrbm.
//
// State (h_c, h_m) of covariance and mean units leaves a Gaussian integral,
//   log-weight = cᵀh_c + bᵀh_m + ½D log 2π − ½ log|Λ| + ½ mᵀΛ⁻¹m,   Λ = I + C diag(Ph_c) Cᵀ,  m = a + Wh_m,
// and Z is the sum of all. One Cholesky factorization for each h_c; everything in float64 on the CPU.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class GaussianStates {
 public:
  // Multiplications for all states: 2^K (FD² + D³/3 + 2^J D²). Infinite where they would fill the memory.
  [[nodiscard]] static double work(std::int64_t inputs, std::int64_t filters, std::int64_t covariance,
                                   std::int64_t hidden);

  // Parameters by the names of covariance_model.h.
  explicit GaussianStates(const Moments& theta);
  [[nodiscard]] double log_z() const;
  // Independent draws of v: a state by its probability, then the Gaussian that it leaves.
  [[nodiscard]] at::Tensor draw(const Key& key, std::int64_t rows) const;

 private:
  [[nodiscard]] at::Tensor factors(const at::Tensor& covariance_states) const;  // L of Λ = LLᵀ, one for each row

  Moments theta_;
  std::int64_t covariance_, hidden_;
  at::Tensor log_weights_;  // 2^K × 2^J
};

}  // namespace harmonium
