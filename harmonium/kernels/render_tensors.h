// Drawing templates (kernels/render_templates.h) by tensor operations, on any device: differentiable, and a second way
// to the same numbers. Takes memory for some twenty tables of B × K × P numbers.
#pragma once

#include "harmonium/kernels/render_templates.h"

namespace harmonium {

// a, B × K × P.
[[nodiscard]] at::Tensor contributions_by_tensors(const DrawnParts& parts, const Canvas& canvas);
// x̂ from a: … × K × P → … × P.
[[nodiscard]] at::Tensor picture_of(const at::Tensor& contributions, const OutputForm& form);
[[nodiscard]] at::Tensor render_by_tensors(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);

}  // namespace harmonium
