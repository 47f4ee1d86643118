// Hidden layers in sets that are independent given everything else, in the order in which sampling and mean field visit
// them.
#pragma once

#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// The machine's blocks without their observed layers; empty ones are left out.
[[nodiscard]] std::vector<LayerSet> hidden_blocks(const BoltzmannMachine& machine);

// The same, with the block first that holds the hidden layer joined to the first observed one: what a row of data says
// directly comes before what it says through others.
[[nodiscard]] std::vector<LayerSet> hidden_blocks_from_data(const BoltzmannMachine& machine);

}  // namespace harmonium
