// The arithmetic of Adam (geometry/adam.h) for one tensor, in one pass over it on a CPU.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

struct AdamFactors {
  double first_decay, second_decay;  // what is left of the two averages
  double first_scale, second_scale;  // 1/(1 − β₁ᵗ) and 1/√(1 − β₂ᵗ): averages that began with zero are too small
  double floor;                      // added to sizes
};

// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², direction ← first_scale · m / (second_scale · √v + floor). All of one shape
// and type (float32 or float64), on one device; m, v and direction lie in one piece. Results do not depend on the
// number of threads.
void adam_direction(const at::Tensor& g, at::Tensor& m, at::Tensor& v, at::Tensor& direction,
                    const AdamFactors& factors);

}  // namespace harmonium
