// log Z by enumeration of the smaller side, float64 log-sum-exp.
#pragma once

#include <functional>

#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

using Progress = std::function<void(std::int64_t done, std::int64_t total)>;  // may throw to stop the work

[[nodiscard]] Estimate exact_log_z(const BoltzmannMachine& machine, int max_bits = enumeration_bits,
                                   const Progress& progress = {});

}  // namespace harmonium
