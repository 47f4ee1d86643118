// Cholesky factors of matrices that are positive definite unless parameters are beyond computing: a damaged file may
// have any.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace harmonium {

// L with L Lᵀ = matrix, of one matrix or a batch. `what` begins the message where there is none ("covariances of …").
[[nodiscard]] at::Tensor checked_cholesky(const at::Tensor& matrix, std::string_view what);

}  // namespace harmonium
