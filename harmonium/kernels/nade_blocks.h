// The walk of a NADE (kernels/nade_loop.h) by tensor operations, on any device: for those without loops of ours, and as
// a second way to the same numbers.
//
// `block` inputs are done at once, all their hidden values by a running sum, which takes memory for rows × block × H
// numbers a few times over; 0 chooses by size. Draws have to wait for each other and go input by input.
#pragma once

#include "harmonium/kernels/nade_loop.h"

namespace harmonium {

[[nodiscard]] at::Tensor nade_logits_by_blocks(const NadeTensors& net, const at::Tensor& x, std::int64_t block = 0);
[[nodiscard]] NadeSums nade_gradient_by_blocks(const NadeTensors& net, const at::Tensor& x, std::int64_t block = 0);
[[nodiscard]] NadeTensors nade_backward_by_blocks(const NadeTensors& net, const at::Tensor& x, const at::Tensor& errors,
                                                  std::int64_t block = 0);
void nade_draw_by_steps_(const NadeTensors& net, at::Tensor& x, const at::Tensor& u, std::int64_t first);

}  // namespace harmonium
