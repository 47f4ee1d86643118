// Parts of pictures in one picture, each in a colour of its own.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// rows × parts × values → rows × (3 · values): all of red, then green, then blue. Hues are spread evenly; values that
// are not negative and sum to 1 at most stay in [0, 1].
[[nodiscard]] at::Tensor coloured_parts(const at::Tensor& parts);

}  // namespace harmonium
