// What units have in common whose columns fall into groups of linked bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

// Digits of numbers written in a base, the first being the fastest: numbers × count.
[[nodiscard]] at::Tensor digits_in_base(const at::Tensor& numbers, std::int64_t base, std::int64_t count);

// `second` (width × width) less Σ_rows weight·p pᵀ within every group of `size` columns; undefined weights mean the
// plain average.
[[nodiscard]] at::Tensor group_covariance(at::Tensor second, const at::Tensor& p, const at::Tensor& weights,
                                          std::int64_t size);

}  // namespace harmonium
