// The walk of a NADE (models/autoregressive/nade.h) along its inputs, for many rows at once.
//
//   a_0 = c,   h_k = σ(a_k),   z_k = b_k + V_k·h_k,   a_{k+1} = a_k + x_k W_k,   k = 0 … N−1 in the order of the net
//
// On a CPU groups of rows walk together, so that W_k and V_k are read once for a group and a, h stay in a near cache.
// An input of zero changes no hidden value, so h is computed again only after the others: for rows of zeros and ones
// most exponentials fall away. Other devices get tensor operations (kernels/nade_blocks.h).
//
// The gradient needs h_k for all k, last to first. Instead of keeping them (rows × N × H) or walking twice, it starts
// from the end, a_N = c + x W, one matrix product, and gets a_k = a_{k+1} − x_k W_k back by subtraction. Since z_k
// needs a_k alone, logits, errors and gradient come out of that one walk. What subtraction costs is rounding: a_k is
// off by some units in the last place of the largest |a|.
//
// Biases may be each row's own (c rows × H, b rows × N): a conditional NADE, whose biases a net puts out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

// Parameters, or a gradient of theirs; rows of the inputs lie in the order of the walk. float32 or float64.
struct NadeTensors {
  at::Tensor hidden_bias;  // c, H; or rows × H
  at::Tensor encoder;      // W, N × H
  at::Tensor output_bias;  // b, N; or rows × N
  at::Tensor decoder;      // V, N × H
};

struct NadeSums {
  at::Tensor logits;     // z, rows × N
  NadeTensors gradient;  // of Σ_rows Σ_k x_k z_k − log(1 + e^{z_k})
};

// z for rows x (rows × N, of the parameters' type and device). Time O(rows·N·H).
[[nodiscard]] at::Tensor nade_logits(const NadeTensors& net, const at::Tensor& x);
// Time O(rows·N·H), memory O(rows·(N + H)) and a few times the parameters. Results do not depend on the number of
// threads but for the product that a_N comes from. Biases are the same for all rows.
[[nodiscard]] NadeSums nade_gradient(const NadeTensors& net, const at::Tensor& x);
// The derivative of Σ_rows Σ_k δ_k z_k with respect to c, W, b and V, for errors δ (rows × N) and biases that are each
// row's own. Cost as above; b's is δ itself.
[[nodiscard]] NadeTensors nade_backward(const NadeTensors& net, const at::Tensor& x, const at::Tensor& errors);
// Draws inputs first … N−1 of every row in place, given those before: x_k = 1 where u_k < σ(z_k), else 0. x and u are
// rows × N and lie in one piece.
void nade_draw_(const NadeTensors& net, at::Tensor& x, const at::Tensor& u, std::int64_t first);

}  // namespace harmonium
