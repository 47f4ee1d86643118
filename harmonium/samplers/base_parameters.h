// A machine without weights that looks like the data as far as independent units can: where annealing and tempering
// start.
#pragma once

#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Averages of the training data: per observed layer, per parameter, as Unit::moments gives them.
using ObservedMoments = std::vector<std::vector<at::Tensor>>;

// Base parameters: all weights zero, hidden biases zero, observed layers at the given moments of independent units (one
// list per observed layer, as Unit::moments gives), smoothed.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine, const ObservedMoments& observed_moments,
                                           double smoothing = 1e-3);
// The same where no data are at hand: moments from a short run of Gibbs chains on the machine itself.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine, const Key& key);

}  // namespace harmonium
