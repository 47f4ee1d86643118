// The fused elementwise loops of binary units: field → mean, field → sample, Σ log(1 + e^field).
//
// `field` is the total input of a unit (bias + weighted neighbours). float32 and float64, contiguous results.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

// σ(field).
[[nodiscard]] at::Tensor logistic(const at::Tensor& field);
// 1 with probability σ(field), else 0. Element i uses uniform i of the key's stream.
[[nodiscard]] at::Tensor sample_logistic(const Key& key, const at::Tensor& field);
// Σ_j log(1 + e^{field_ij}) for every row i; always float64, because likelihoods subtract such sums.
[[nodiscard]] at::Tensor softplus_row_sums(const at::Tensor& field);

}  // namespace harmonium
