// s_data: expected statistics with the observed layers held at data and the hidden ones in closed form.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Average over rows of E[g | data row]. Needs every hidden layer to be joined to observed layers only (RBM,
// classification RBM); deeper machines need approximate inference and are refused.
[[nodiscard]] Moments data_moments(const BoltzmannMachine& machine, const State& data);

}  // namespace harmonium
