// Independent draws from a machine small enough to be enumerated: no Markov chain, no error but rounding.
//
// Cost: two enumerations (see models/enumeration.h), whatever the number of draws.
#pragma once

#include "harmonium/models/enumeration.h"

namespace harmonium {

// States of all layers, in the machine's own precision and on its device; the probabilities are float64, on the CPU.
[[nodiscard]] State exact_sample(const BoltzmannMachine& machine, const Key& key, std::int64_t rows,
                                 int max_bits = enumeration_bits);

}  // namespace harmonium
