// Which values pictures of real-valued data show as black and white.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace harmonium {

// Of data with these means and standard deviations of columns. 0 and 1 where all values may be gray (a column within
// [l, h] has a variance of at most (mean − l)(h − mean)), else two deviations around the means, over all columns.
[[nodiscard]] std::pair<double, double> range_of_values(const at::Tensor& mean, const at::Tensor& deviation);

}  // namespace harmonium
