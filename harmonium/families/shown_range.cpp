#include "harmonium/families/shown_range.h"

#include <ATen/ATen.h>

namespace harmonium {

std::pair<double, double> range_of_values(const at::Tensor& mean, const at::Tensor& deviation) {
  constexpr double below = 1e-6, above = 0.1;  // rounding; noise of a stored step
  const at::Tensor m = mean.to(at::kDouble), s = deviation.to(at::kDouble);
  if (m.ge(-below).logical_and_(s.square().le((m + below) * (1 + above - m))).all().item<bool>()) return {0, 1};
  const double low = (m - 2 * s).min().item<double>(), high = (m + 2 * s).max().item<double>();
  return low < high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

}  // namespace harmonium
