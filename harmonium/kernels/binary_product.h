// Products with states of layers. Where a table holds 0s and 1s and few of them deviate from the majority of their
// column (binary_code.h), rows are added up instead of multiplied; anything else is a dense product. Which way is taken
// depends on the numbers alone, never on a clock: a run that is repeated or resumed rounds the same way.
#pragma once

#include <ATen/ATen.h>

namespace harmonium {

// start + x·weights. `start` is a row, a table, or undefined for zero.
[[nodiscard]] at::Tensor add_product(const at::Tensor& start, const at::Tensor& x, const at::Tensor& weights);

// xᵀ·y / rows: the mean of the outer products of the rows of two tables.
[[nodiscard]] at::Tensor mean_outer_product(const at::Tensor& x, const at::Tensor& y);

}  // namespace harmonium
