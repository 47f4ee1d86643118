// A convolution of 3 × 3 places over pictures at every second one, and its adjoint, the transposed convolution:
//
//   (A x)_o(i, j)  = Σ_c Σ_{r, s} W_oc(r, s) x_c(2i − 1 + r, 2j − 1 + s),                  0 outside the picture,
//   (Aᵀ y)_c(a, b) = Σ_o Σ_{i, j} W_oc(a + 1 − 2i, b + 1 − 2j) y_o(i, j),                  0 outside the kernel.
//
// Shapes: x is N × wide × rows × columns, y N × narrow × ⌈rows/2⌉ × ⌈columns/2⌉, W narrow × wide × 3 × 3; "wide" are
// the channels of the larger picture. A picture of any size can be halved, and Aᵀ gives back the size that it is asked
// for, so ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ for odd sizes, too. A place of the smaller picture costs 9 · wide · narrow
// multiplications. The initial weights are uniform in ±√(6/(fan-in + fan-out)), biases zero.
#pragma once

#include <string>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class StridedConvolution {
 public:
  enum class Way { down, up };
  // Parameters are NAME.weights and NAME.bias, a number for every channel that is put out. Way up: the adjoint.
  StridedConvolution(std::string name, std::int64_t wide, std::int64_t narrow, Way way);

  // Rows, or columns, of half the picture.
  [[nodiscard]] static std::int64_t half(std::int64_t size) { return (size + 1) / 2; }

  void declare(Moments& parameters, at::ScalarType type) const;
  void initialize(Moments& parameters, const Key& key) const;
  [[nodiscard]] double weights() const { return 9 * static_cast<double>(wide_) * static_cast<double>(narrow_); }
  // Down: to half the size. Up: to so many rows and columns, of which half() are given.
  [[nodiscard]] at::Tensor down(const Moments& parameters, const at::Tensor& values) const;
  [[nodiscard]] at::Tensor up(const Moments& parameters, const at::Tensor& values, std::int64_t rows,
                              std::int64_t columns) const;

 private:
  std::string name_;
  std::int64_t wide_, narrow_;
  Way way_;
};

}  // namespace harmonium
