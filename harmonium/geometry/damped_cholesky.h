// The Cholesky factor of a covariance plus damping, where rounding or noise may have left it short of positive
// definite.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace harmonium {

struct DampedFactor {
  at::Tensor factor;   // lower
  double damping = 0;  // that was used
  std::string note;    // a sentence where more than the wanted damping was needed
};

// Tries `damping`, then ten times more, and so on; `what` names the matrix in messages. A matrix that is not finite is
// a RunFailure.
[[nodiscard]] DampedFactor damped_cholesky(const at::Tensor& covariance, double damping, const std::string& what);

// The sentence of a damping that had to be raised.
[[nodiscard]] std::string raised_damping(const std::string& what, double wanted, double used);

}  // namespace harmonium
