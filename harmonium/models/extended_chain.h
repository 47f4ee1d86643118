// A deep Boltzmann machine that begins as a shallower one: the layers of a trained chain (an RBM is one of two layers)
// and further hidden layers upon them.
//
// New weights are N(0, s²). A new layer with biases zero has the means m of its units at field zero, and would shift
// the field of the layer below by W m on average; the biases below take that off again,
//
//   b_below = b_trained − W m,
//
// so the machine begins close to the trained one. With s = 0 it is the trained one: p(v) is the same.
#pragma once

#include <string>
#include <vector>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Empty where a chain of these layers can begin with `trained`: a chain whose layers are the first of `chain`, without
// a label. Else why it cannot.
[[nodiscard]] std::string extension_complaint(const BoltzmannMachine& trained, const std::vector<std::string>& chain);

// make_chain(chain) with the layers of `trained` below and new ones above.
[[nodiscard]] BoltzmannMachine extend_chain(const BoltzmannMachine& trained, const std::vector<std::string>& chain,
                                            const Key& key, double weight_scale);

}  // namespace harmonium
