// The largest change of a table, in units that rows and columns have: max_ij |after_ij − before_ij| r_i c_j. One pass
// without temporaries; NaN are passed over.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// after, before: rows × columns, contiguous float32 or float64. row_scales, column_scales: of the same type, positive.
// A number on the tensors' device, float64 on the CPU.
[[nodiscard]] at::Tensor largest_scaled_change(const at::Tensor& after, const at::Tensor& before,
                                               const at::Tensor& row_scales, const at::Tensor& column_scales);

}  // namespace harmonium
