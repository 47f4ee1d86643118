#include "harmonium/families/coloured_parts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

at::Tensor coloured_parts(const at::Tensor& parts) {
  require(parts.dim() == 3 && parts.size(1) >= 1, "parts to be coloured are rows × parts × values");
  const std::int64_t count = parts.size(1);
  const at::Tensor colours = at::empty({3, count}, at::kFloat);
  constexpr double least = 0.15;  // of every channel, so that blue is not dark
  for (std::int64_t k = 0; k < count; ++k)
    for (int channel = 0; channel < 3; ++channel) {
      // Distance from the channel's own hue on a circle of length 6: within 1 it is full, beyond 2 it is gone.
      const double hue = 6.0 * static_cast<double>(k) / static_cast<double>(count);
      const double apart = std::abs(std::remainder(hue - 2.0 * channel, 6.0));
      colours[channel][k] = least + (1 - least) * std::clamp(2 - apart, 0.0, 1.0);
    }
  return at::matmul(colours, parts.to(at::kFloat)).flatten(1);
}

}  // namespace harmonium
