// Log-odds of a conditional NADE (Bornschein & Bengio 2015): a NADE of bits whose biases some parent decides,
//
//   z_i = b_i + V_i·h_i,   h_i = σ(c + Σ_{j<i} x_j W_j),   b (N) and c (H) of every row its own,
//
// so that p(x | parent) = Π_i σ(z_i)^{x_i} σ(−z_i)^{1−x_i}. Differentiable in b, c, W and V (not in x): O(rows·N·H)
// time and O(rows·(N + H)) memory, forwards and backwards (kernels/nade_loop.h).
#pragma once

#include "harmonium/kernels/nade_loop.h"

namespace harmonium {

// x: rows × N; net.hidden_bias: rows × H; net.output_bias: rows × N. Of one type, on one device.
[[nodiscard]] at::Tensor conditional_nade_logits(const NadeTensors& net, const at::Tensor& x);

}  // namespace harmonium
