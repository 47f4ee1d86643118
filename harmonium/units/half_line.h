// The density ∝ e^{f·h − ½γh²} on h ≥ 0, a normal density cut at zero: what rectified units are made of.
//
// With t = −f/√(2γ): integral √(π/2γ)·erfcx(t), mean √(2/γ)·(1/(√π erfcx(t)) − t), and by integration by parts
// γ E[hⁿ⁺¹] = n E[hⁿ⁻¹] + f E[hⁿ]. All float64, and safe where t is large: far below zero h is almost exponential.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

struct HalfLine {
  at::Tensor log_integral;                  // of each element
  at::Tensor first, second, third, fourth;  // E[h], E[h²], …
};

// `precision` broadcasts against `field`.
[[nodiscard]] HalfLine half_line(const at::Tensor& field, const at::Tensor& precision);
// A draw by the inverse distribution function of the upper tail; `chances` uniform in [0, 1), of the field's shape.
[[nodiscard]] at::Tensor draw_half_line(const at::Tensor& chances, const at::Tensor& field,
                                        const at::Tensor& precision);

}  // namespace harmonium
