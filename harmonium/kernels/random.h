// Tensors of counter-based random numbers. Element i of a tensor depends on (key, i) alone: never on threads or
// devices.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

// Uniform in [0, 1); float32 (24 bits) or float64 (53 bits), on the device that the options name.
[[nodiscard]] at::Tensor uniform(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options = at::kFloat);
// Standard normal, by Box–Muller.
[[nodiscard]] at::Tensor normal(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options = at::kFloat);
// Gamma with the given shapes (> 0) and rate 1; same shape and type as `shape`. On the CPU.
[[nodiscard]] at::Tensor standard_gamma(const Key& key, const at::Tensor& shape);
// 1 with the given probability, else 0; same shape and type as `probability`.
[[nodiscard]] at::Tensor sample_bernoulli(const Key& key, const at::Tensor& probability);
// The same for rows (int64 indices) of a table of bytes that stand for byte·scale: what a training step reads, in one
// pass.
[[nodiscard]] at::Tensor sample_bernoulli(const Key& key, const at::Tensor& bytes, const at::Tensor& rows,
                                          double scale);
// A uniformly random order of 0 … n−1 (int64), the same on every device.
[[nodiscard]] at::Tensor permutation(const Key& key, std::int64_t n, at::Device device = at::kCPU);

}  // namespace harmonium
