// Looking at a part of a picture, and drawing there: a grid of N × N Gaussian filters (Gregor, Danihelka, Graves,
// Rezende & Wierstra 2015).
//
// Five numbers of a row, (g̃x, g̃y, log s², log δ̃, log γ), place the grid on a picture of B rows and A columns:
//
//   gx = (A + 1)(g̃x + 1)/2,   gy = (B + 1)(g̃y + 1)/2,   δ = (max(A, B) − 1) δ̃/(N − 1),
//   μx_i = gx + (i − N/2 − ½) δ,   F_x[i, a] ∝ exp(−(a − μx_i)²/2s²),   Σ_a F_x[i, a] = 1,   i = 1 … N, a = 1 … A,
//
// and F_y in the same way. Zeros centre a grid that spans the larger side. A filter adds up to one wherever it lies:
// one whose middle is outside the picture sees its nearest edge. The three logarithms are kept within ±7. With N = 1
// the stride has no meaning.
//
//   read(x) = γ F_y x F_xᵀ  (N × N),    write(w) = F_yᵀ w F_x / γ  (B × A),
//
// so that writing is the transpose of reading but for γ. Pictures are rows of B·A numbers, row by row, patches rows of
// N·N. Cost: rows · N · A · (B + N).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

struct GlimpseShape {
  static constexpr std::int64_t numbers = 5;  // that place a grid
  std::int64_t height = 1, width = 1;         // of the picture
  std::int64_t size = 1;                      // N
};

class Glimpse {
 public:
  // `place`: rows × 5. Differentiable in it.
  Glimpse(const GlimpseShape& shape, const at::Tensor& place);

  [[nodiscard]] const at::Tensor& over_rows() const { return over_rows_; }        // F_y: rows × N × height
  [[nodiscard]] const at::Tensor& over_columns() const { return over_columns_; }  // F_x: rows × N × width
  [[nodiscard]] at::Tensor read(const at::Tensor& pictures) const;
  [[nodiscard]] at::Tensor write(const at::Tensor& patches) const;

 private:
  GlimpseShape shape_;
  at::Tensor over_rows_, over_columns_, intensity_;
};

}  // namespace harmonium
