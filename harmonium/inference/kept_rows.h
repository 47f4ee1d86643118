// States that are kept for every training row from one visit of the row to the next.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// Puts `values` (a row for each of `numbers`, int64) into the rows of `kept` with these numbers. A batch that ends one
// epoch and begins the next may have a row twice: its last state is kept, on every device.
void keep_rows(at::Tensor& kept, const at::Tensor& numbers, const at::Tensor& values);

}  // namespace harmonium
