// log Z by enumeration of the smaller side, float64 log-sum-exp.
#pragma once

#include <functional>

#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

using Progress = std::function<void(std::int64_t done, std::int64_t total)>;  // may throw to stop the work

// Whether the smaller side has at most 2^max_bits states.
[[nodiscard]] bool can_enumerate(const BoltzmannMachine& machine, int max_bits = enumeration_bits);
[[nodiscard]] Estimate exact_log_z(const BoltzmannMachine& machine, int max_bits = enumeration_bits,
                                   const Progress& progress = {});

}  // namespace harmonium
