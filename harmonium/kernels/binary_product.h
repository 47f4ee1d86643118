// Products with states of layers. Where a table holds 0s and 1s, rows of the other matrix are added up instead of
// multiplied (binary_code.h, picked_sums.h); anything else is a dense product. Which way is taken depends on the
// numbers alone, never on a clock: a run that is repeated or resumed rounds the same way.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"
#include "harmonium/kernels/coded_table.h"

namespace harmonium {

// start + x·weights. `start` is a row, a table, or undefined for zero.
[[nodiscard]] at::Tensor add_product(const at::Tensor& start, const CodedTable& x, const at::Tensor& weights);

// Binary units drawn with the fields start + x·weights: sample_logistic(key, add_product(start, x, weights)), but the
// field is only stored where it is asked for.
[[nodiscard]] CodedTable draw_from_product(const Key& key, const at::Tensor& start, const CodedTable& x,
                                           const at::Tensor& weights, at::Tensor* field = nullptr);

// xᵀ·y / rows: the mean of the outer products of the rows of two tables.
[[nodiscard]] at::Tensor mean_outer_product(const CodedTable& x, const CodedTable& y);
// Adds `scale` times that to `target`, without another matrix of its size where one of the tables is binary.
void add_mean_outer_product_(at::Tensor& target, const CodedTable& x, const CodedTable& y, double scale);

}  // namespace harmonium
