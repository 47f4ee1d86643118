// XᵀX by blocks of columns, so that little more than one of its two equal halves is computed.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

[[nodiscard]] at::Tensor symmetric_product(const at::Tensor& x);
// The same into a square `target`.
void symmetric_product_into(const at::Tensor& x, at::Tensor target);

}  // namespace harmonium
