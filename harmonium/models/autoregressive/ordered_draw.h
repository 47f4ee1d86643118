// What models draw that have an order of their variables.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace harmonium {

// Rows drawn by an autoregressive net, and the mean of each variable given those before it.
struct OrderedDraw {
  at::Tensor values, means;
};

// The place in the order of the first variable that is free in rows to complete (rows × columns, NaN where free; equal
// numbers of columns for every variable). Fails where rows differ in what is free, or a known variable comes after a
// free one: a net with one order draws exactly only what comes after all that is known.
[[nodiscard]] std::int64_t first_free_place(const at::Tensor& known, const std::vector<std::int64_t>& order);

}  // namespace harmonium
