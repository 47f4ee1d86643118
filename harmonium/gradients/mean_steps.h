// From a state to means: layers set to their means given the others, block after block, as a Gibbs sweep would draw
// them. After that every unit is independent of all others in a row: what two of them share is what rows differ by.
//
// MF-CD starts so at data. Chains of a deep machine may end so: its data moments come from a factorized distribution,
// which knows of nothing that units share within a row, and a difference to moments that do pulls weights between
// hidden layers towards zero (Salakhutdinov & Hinton 2009 take one step).
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Sets these layers, which share no edge, to their means and returns their fields.
Fields set_to_means(const BoltzmannMachine& machine, State& state, const LayerSet& layers);

// Average over rows of E[g] under independent units with the means that `steps` ≥ 1 rounds over all blocks lead to.
// Layers with an edge inside are refused.
[[nodiscard]] Moments moments_after_mean_steps(const BoltzmannMachine& machine, State state, std::int64_t steps);

}  // namespace harmonium
