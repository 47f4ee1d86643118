// The K-draw bound of enumerated states for any number of draws, by one integral instead of 2^{nK} tuples.
//
// With log z = ∫ (e^{−t} − e^{−zt})/t dt over t > 0 (Frullani) and independent draws, for p̂ = (1/K) Σ_k w^k,
//
//   L_K = E log p̂ = ∫ (e^{−t} − φ(t/K)^K)/t dt,   φ(s) = E_q e^{−s w} = Σ_h q(h) e^{−s w(h)},
//   E Σ_k w̃^k g(h^k) = Σ_h c(h) g(h),   c(h) = K q(h) w(h) ∫ e^{−t w(h)} φ(t)^{K−1} dt   (1/z = ∫ e^{−zt} dt).
//
// w is divided by its mean p(x) first. With t = e^u both integrands are analytic for |Im u| < π/2 and fall off at both
// ends, so the trapezoid rule with steps of 0.2 in u has an error below 1e-15 beside rounding. Cost: a few hundred
// nodes × states. Differentiable in both arguments.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

// L_K of one row, a scalar; log q sums to one, log w = log p(x, h) − log q(h | x), states each.
[[nodiscard]] at::Tensor bound_by_quadrature(const at::Tensor& log_w, const at::Tensor& log_q, std::int64_t draws);
// c, states: the mean weight of each state under self-normalized importance sampling; sums to one.
[[nodiscard]] at::Tensor mean_shares(const at::Tensor& log_w, const at::Tensor& log_q, std::int64_t draws);

}  // namespace harmonium
