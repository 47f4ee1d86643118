// The arithmetic of Adam (geometry/adam.h): one pass over every tensor on a CPU, one kernel for all of them on a
// device.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace harmonium {

struct AdamFactors {
  double first_decay, second_decay;  // what is left of the two averages
  double first_scale, second_scale;  // 1/(1 − β₁ᵗ) and 1/√(1 − β₂ᵗ): averages that began with zero are too small
  double floor;                      // added to sizes
};

// Of one parameter. All of one shape and type (float32 or float64), on one device; all but the gradient lie in one
// piece.
struct AdamTensors {
  at::Tensor gradient, first, second, direction;
};

// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², direction ← first_scale · m / (second_scale · √v + floor) for every
// parameter. Results do not depend on the number of threads.
void adam_directions(const std::vector<AdamTensors>& parameters, const AdamFactors& factors);

}  // namespace harmonium
