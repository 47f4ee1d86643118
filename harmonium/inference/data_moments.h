// s_data: expected statistics with the observed layers held at data and the hidden ones in closed form, or by mean
// field where they are joined to each other.
#pragma once

#include "harmonium/inference/mean_field.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Average over rows of E[g | data row]. Where hidden units are joined (deep and general machines) the expectation is
// under the factorized distribution of mean_field.h: the gradient of its bound on the likelihood, by the envelope
// theorem. There hidden layers must be of units with a single statistic.
[[nodiscard]] Moments data_moments(const BoltzmannMachine& machine, const State& data,
                                   const MeanFieldOptions& options = {});

}  // namespace harmonium
