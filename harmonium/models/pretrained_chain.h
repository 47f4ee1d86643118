// A deep Boltzmann machine put together from RBMs that were trained one upon the other (Salakhutdinov & Hinton 2009).
//
// In a deep machine a layer hears from below and from above; in an RBM from one side only. So each RBM is made to hear
// twice what its side says, and the machine takes half of what every RBM says. With η the natural parameters (biases
// and weights),
//
//   η_machine = ½ Σ η_RBM,
//
// so that the field of a layer is the mean of its fields in the RBM below and the RBM above: p(h₁ | v, h₂) is their
// normalized geometric mean. The bottom layer of the machine and the top one are in one RBM only, and half of its field
// is what one of two copies sees: they are layers of twins there (units/twin.h), two copies of the data below, two of
// the last hidden layer above. RBMs in between are plain.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Lower and upper layer of each RBM that a chain of these layers is pretrained with. There must be two RBMs or more,
// and all layers of binary units.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> pretraining_rbms(const std::vector<std::string>& chain);

// make_chain() of them, with half the sum of the RBMs' parameters.
[[nodiscard]] BoltzmannMachine compose_chain(const std::vector<BoltzmannMachine>& rbms);

}  // namespace harmonium
