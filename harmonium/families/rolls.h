// Sequences as pictures: frames as columns, time to the right, the first value of a frame at the bottom, as in a piano
// roll.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

// `rows`: frames of sequences of the same length, one sequence after the other. A picture of columns × frames for each:
// sequences × (columns·frames).
[[nodiscard]] at::Tensor as_rolls(const at::Tensor& rows, std::int64_t frames);

}  // namespace harmonium
