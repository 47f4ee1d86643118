// log f of what is known of a row: missing values of binary visible units are summed out by going through all of them.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// At most so many missing values a row: 65 536 ways to fill it in.
inline constexpr std::int64_t most_missing_in_a_row = 16;

// log Σ_missing f(row) for rows with NaN where a value is missing, float64. The machine has one observed layer, of
// binary units, and hidden layers that are known once it is. Throws Error naming the first row that lacks more than
// most_missing_in_a_row.
[[nodiscard]] at::Tensor log_unnormalized_of_known(const BoltzmannMachine& machine, const at::Tensor& rows);

}  // namespace harmonium
