// Where binary and spike-and-slab hidden units begin beside gaussian visible ones. With biases of zero half of them are
// on in every row: together they add to the covariance and nothing else, the data know it better, and the weights
// shrink to nothing. So a unit begins as a rare component of its own (Melchior, Wang & Wiskott 2017):
//
//   W_ij = √λ_i w_ij,  w_ij ~ N(0, 2/(D + N)),     b_j = log τ − ½ Σ_i [(a_i + W_ij)² − a_i²]/λ_i
//
// with D visible and N hidden units, a and λ biases and precisions of the visible ones. Then the component of unit j
// alone has τ times the weight of the one without any, whose mean is that of the data.
//
// Spike-and-slab units that are all on are gaussian ones: the data are whitened by them, and no spike is needed. So
// they begin with weights w_ij ~ N(0, 0.4/(√D + √N)²), for which Z is finite by a wide margin, and with
//   ζ_j = log τ − ½ log(2π/β_j) − γ_j²/2β_j,   β = α − Σ_i W_ij²/λ_i,  γ = Σ_i W_ij a_i/λ_i
// (a sum over the slabs of a spike, without what they have to do with each other).
#pragma once

#include <optional>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Whether the machine is an RBM of gaussian visible and binary or spike-and-slab hidden units.
[[nodiscard]] bool has_rare_start(const BoltzmannMachine& machine);
// The deviation of w beside so many visible units; nothing for hidden units that have no rare start.
[[nodiscard]] std::optional<double> rare_start_scale(std::int64_t visible, const Unit& hidden);
// Draws weights and sets hidden biases or spikes; visible parameters are there already. `scale` is the deviation of w,
// `share` τ (0.01, for spikes 0.05).
void start_rare(BoltzmannMachine& machine, const Key& key, double scale, std::optional<double> share = std::nullopt);

}  // namespace harmonium
