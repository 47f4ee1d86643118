// Draws of Gaussians given by their precision, one for each row: v ~ N(Λ⁻¹m, Λ⁻¹) = L⁻ᵀ(L⁻¹m + ε), Λ = LLᵀ.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// precision: rows × D × D, float64; linear (m) and noise (ε, standard normal): rows × D. Fails where a precision has no
// Cholesky factor.
[[nodiscard]] at::Tensor draw_by_precision(const at::Tensor& precision, const at::Tensor& linear,
                                           const at::Tensor& noise);
// Rows at a time whose matrices, D × `widest`, stay within memory.
[[nodiscard]] std::int64_t rows_at_once(std::int64_t D, std::int64_t widest);

}  // namespace harmonium
