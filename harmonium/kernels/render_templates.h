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
// rows are made in pieces of 64 rows, added in order, so that results do not depend on threads. Other devices draw by
// tensor operations (kernels/render_tensors.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

enum class OutputModel {
  semisoft,      // (1/β)(log Σ_k e^{β a_k} − log K): the largest, softened; exactly 0 where nothing is drawn
  sum,           // Σ_k a_k
  maximum,       // max_k a_k; the first of the largest has the gradient
  soft,          // semisoft with β = 1
  logistic,      // σ(Σ_k a_k): ½ where nothing is drawn
  clamped,       // min(Σ_k a_k, 1)
  soft_clamped,  // f(1) − f(1 − Σ_k a_k), f(x) = log(1 + e^{10x})/10
};

struct Canvas {
  std::int64_t rows = 28, columns = 28;
  [[nodiscard]] std::int64_t pixels() const { return rows * columns; }
  friend bool operator==(const Canvas&, const Canvas&) = default;
};

// What is drawn, or a gradient with respect to it. One type (float32 or float64), one device.
struct DrawnParts {
  at::Tensor poses;        // B × K × 2 × 3
  at::Tensor intensities;  // B × K × L
  at::Tensor templates;    // K × L × S × S
};

struct OutputForm {
  OutputModel model = OutputModel::semisoft;
  double sharpness = 100;  // β of semisoft
};

// x̂, B × P.
[[nodiscard]] at::Tensor render(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);
// a, B × K × P.
[[nodiscard]] at::Tensor contributions(const DrawnParts& parts, const Canvas& canvas);

struct RenderGradient {
  at::Tensor squared_error;  // ‖x̂ − x‖² of each row, B, float64
  DrawnParts gradient;       // of their sum
};
// CPU only: elsewhere automatic differentiation of render_by_tensors() finds the same.
[[nodiscard]] RenderGradient render_error_gradient(const DrawnParts& parts, const at::Tensor& target,
                                                   const Canvas& canvas, const OutputForm& form);

// Fails where shapes, types or devices do not fit together.
void require_drawable(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);

}  // namespace harmonium
