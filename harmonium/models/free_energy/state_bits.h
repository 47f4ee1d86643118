// What sums over the states of binary hidden units share, where values given a state are Gaussian with a dense
// precision. Everything in float64 on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

inline constexpr std::int64_t most_state_bits = 22;  // a table of 32 MB
inline constexpr std::int64_t state_numbers_at_once = 1 << 21;

// Rows of bits: the digits of numbers (int64), the first digit the fastest.
[[nodiscard]] at::Tensor state_bits(const at::Tensor& numbers, std::int64_t width);
// Numbers of states, drawn by their log-weights (any shape, read in order).
[[nodiscard]] at::Tensor draw_states(const at::Tensor& log_weights, const Key& key, std::int64_t rows);
// A draw of N(Λ⁻¹m, Λ⁻¹) for each row of m, given the factors L of Λ = LLᵀ, rows × D × D, and standard normal noise:
// L⁻ᵀ(L⁻¹m + noise).
[[nodiscard]] at::Tensor gaussian_draws(const at::Tensor& factors, const at::Tensor& m, const at::Tensor& noise);

}  // namespace harmonium
