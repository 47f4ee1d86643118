// Draws small templates into a picture, each under a pose of its own: the decoder of capsules (models/capsules).
//
// Part k of a row has a pose M = [A | b] that takes points of the picture to points of the template (both of unit
// size, x to the right, y downward; pixel (r, c) is the point ((c + ½)/columns, (r + ½)/rows)), and an intensity for
// each of its L templates of S × S pixels. At pixel p, with q = A p + b, u = S q_x − ½, v = S q_y − ½,
//
//   s_kl(p) = the bilinear value of template kl at column u and row v, zero outside,   a_k(p) = Σ_l I_kl s_kl(p).
//
// An output model turns the a_k into the value x̂(p) of the pixel. With r_k = ∂x̂/∂a_k and g_k = 2(x̂ − x) r_k the squared
// error ‖x̂ − x‖² has the gradient
//
//   ∂I_kl = Σ_p g_k s_kl,   ∂M_k = Σ_p g_k S (D_u, D_v)ᵀ (p_x, p_y, 1),   ∂T_kl[tap] = Σ_p g_k I_kl · weight of the
//   tap,
//
// D = Σ_l I_kl ∂s_kl/∂(u, v). Where u or v is whole (measure zero) the cell to the right counts.
//
// On a CPU values, error and gradient are one pass that keeps what parts add to one picture only, and pixels that a
// part cannot reach are not visited: O(pixels reached) for each part and O(P) for a picture of P pixels. Sums over
// rows are made in pieces of 64 rows, added in order, so that results do not depend on threads. On a CUDA device
// (kernels/cuda/render_templates.h) one kernel draws and compares, another goes back, and sums over rows are made of
// integers, which have no order. What no kernel draws is drawn by tensor operations (kernels/render_tensors.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "harmonium/kernels/output_form.h"

namespace harmonium {

// What is drawn, or a gradient with respect to it. One type (float32 or float64), one device.
struct DrawnParts {
  at::Tensor poses;        // B × K × 2 × 3
  at::Tensor intensities;  // B × K × L
  at::Tensor templates;    // K × L × S × S
};

// x̂, B × P.
[[nodiscard]] at::Tensor render(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);
// a, B × K × P.
[[nodiscard]] at::Tensor contributions(const DrawnParts& parts, const Canvas& canvas);

struct RenderGradient {
  at::Tensor squared_error;  // ‖x̂ − x‖² of each row, B, float64
  DrawnParts gradient;       // of their sum
};
// Fails where no kernel draws: there automatic differentiation of render_by_tensors() finds the same.
[[nodiscard]] RenderGradient render_error_gradient(const DrawnParts& parts, const at::Tensor& target,
                                                   const Canvas& canvas, const OutputForm& form);

// Whether a kernel draws these, where they are: always on a CPU; on a CUDA device while pictures and templates can be
// counted by 32 bits.
[[nodiscard]] bool has_render_kernel(const DrawnParts& parts, const Canvas& canvas);

// Fails where shapes, types or devices do not fit together.
void require_drawable(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);

}  // namespace harmonium
