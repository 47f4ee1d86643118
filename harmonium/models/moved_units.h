// A machine over other units of measurement: what was learnt from x' = (x − mean) / deviation, as a machine over x.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// The same distribution of x = mean + deviation·x' (both of the width of the first layer, which has Gaussian units):
//   a → a/s + λm/s²,   λ → λ/s²,   W → W/s,   biases of neighbours b → b − Wᵀ(m/s),
// so that its log-density is in the units of x. Exact but for rounding.
[[nodiscard]] BoltzmannMachine in_units_of(const BoltzmannMachine& machine, const at::Tensor& mean,
                                           const at::Tensor& deviation);

}  // namespace harmonium
