// Single-site Gibbs sampling of a layer with an edge inside: its units one after another, given all others.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// What one sweep leaves of a layer. `field` is the total input of its units given all others, in which weights inside
// the layer have been multiplied by `scale`; units in `held` (bool) keep their values.
[[nodiscard]] at::Tensor single_site_sweep(const BoltzmannMachine& machine, std::size_t layer, const State& state,
                                           const Key& key, const at::Tensor& field, double scale = 1,
                                           const at::Tensor& held = {});

}  // namespace harmonium
