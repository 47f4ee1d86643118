// Σ_j log(1 + e^{x_aj + y_bj}) for all pairs of a row a of x and a row b of y, without a field for every pair.
//
// With u = e^x and w = e^y a pair is the logarithm of Π_j (1 + u_aj w_bj): one fused multiply-add and one product per
// unit. Products are kept as mantissa and exponent, so that one logarithm per pair is left. This is what enumeration
// does nearly all of its work in.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// Whether every e^x stays within double: |x| ≤ 150. False for NaN.
[[nodiscard]] bool pair_sums_in_range(const at::Tensor& first, const at::Tensor& second);

// Rows of `first` × rows of `second`, all float64 and in range.
[[nodiscard]] at::Tensor softplus_pair_sums(const at::Tensor& first, const at::Tensor& second);

}  // namespace harmonium
