// Where binary hidden units begin beside gaussian visible ones. With biases of zero half of them are on in every row:
// together they add to the covariance and nothing else, the data know it better, and the weights shrink to nothing. So
// a unit begins as a rare component of its own (Melchior, Wang & Wiskott 2017):
//
//   W_ij = √λ_i w_ij,  w_ij ~ N(0, 2/(D + N)),     b_j = log τ − ½ Σ_i [(a_i + W_ij)² − a_i²]/λ_i
//
// with D visible and N hidden units, a and λ biases and precisions of the visible ones. Then the component of unit j
// alone has τ times the weight of the one without any, whose mean is that of the data.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Whether the machine is an RBM of gaussian visible and binary hidden units.
[[nodiscard]] bool has_rare_start(const BoltzmannMachine& machine);
// √(2/(D + N)).
[[nodiscard]] double rare_start_scale(std::int64_t visible, std::int64_t hidden);
// Draws weights and sets hidden biases; visible parameters are there already. `scale` is the deviation of w, `share` τ.
void start_rare(BoltzmannMachine& machine, const Key& key, double scale, double share = 0.01);

}  // namespace harmonium
