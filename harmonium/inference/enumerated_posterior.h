// s_data by a sum over all states of the hidden layers, for machines whose hidden units are joined to each other and
// few: what mean field and sampled posteriors approximate. Cost: rows × states × hidden units.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Fails where hidden layers have more than 2^15 states, or real-valued units.
void require_few_hidden_states(const BoltzmannMachine& machine);

// Average over rows of E[g | data row]; `data` has the observed layers. On the CPU in float64, handed back as the
// machine's parameters are.
[[nodiscard]] Moments enumerated_data_moments(const BoltzmannMachine& machine, const State& data);

}  // namespace harmonium
