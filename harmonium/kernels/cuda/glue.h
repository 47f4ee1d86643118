// Tensors on a CUDA device, handed to the kernels beside: what the functions of the same names in kernels/ do with
// them. The only place that asks LibTorch for its stream; without CUDA (no_cuda.cpp) every function says what is
// missing.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "harmonium/core/key.h"
#include "harmonium/kernels/adam_loop.h"
#include "harmonium/kernels/anneal_logistic.h"
#include "harmonium/kernels/cuda/elementwise.h"
#include "harmonium/kernels/render_templates.h"

namespace harmonium::cuda {

// The stream that LibTorch now works on, on the tensor's device. Kernels started on it run after what LibTorch started
// before, and memory that is let go of is not used again before they are done.
[[nodiscard]] Stream stream_of(const at::Tensor& x);
// What its maker calls the device, such as "NVIDIA H200".
[[nodiscard]] std::string device_name(at::Device device);

[[nodiscard]] at::Tensor uniform(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options);
[[nodiscard]] at::Tensor normal(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options);
[[nodiscard]] at::Tensor permutation(const Key& key, std::int64_t n, at::Device device);
[[nodiscard]] at::Tensor sample_bernoulli(const Key& key, const at::Tensor& probability);
[[nodiscard]] at::Tensor sample_bernoulli(const Key& key, const at::Tensor& bytes, const at::Tensor& rows,
                                          double scale);
[[nodiscard]] at::Tensor logistic(const at::Tensor& field);
[[nodiscard]] at::Tensor sample_logistic(const Key& key, const at::Tensor& field);
[[nodiscard]] at::Tensor softplus_row_sums(const at::Tensor& field);
[[nodiscard]] at::Tensor sample_logistic(const Key& key, const ScaledField& field);
[[nodiscard]] at::Tensor anneal_logistic(const Key& key, const ScaledField& before, const ScaledField& after,
                                         at::Tensor& log_weights);

void adam_directions(const std::vector<AdamTensors>& parameters, const AdamFactors& factors);

[[nodiscard]] at::Tensor render(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form);
[[nodiscard]] at::Tensor contributions(const DrawnParts& parts, const Canvas& canvas);
[[nodiscard]] RenderGradient render_error_gradient(const DrawnParts& parts, const at::Tensor& target,
                                                   const Canvas& canvas, const OutputForm& form);

// a·b of halves, in float32.
[[nodiscard]] at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b);

// Mean and second moment of 0/1 units from Σ of their products (unit_statistics.h).
struct UnitMoments {
  at::Tensor mean, second_moment;
};
[[nodiscard]] UnitMoments unit_moments(const at::Tensor& sums, std::int64_t count, double share);

// Coefficients on rows' and columns' units and residual variances of the regressions of products (pair_regression.h).
struct PairRegressions {
  at::Tensor on_first, on_second, variance;
};
[[nodiscard]] PairRegressions pair_regressions(const at::Tensor& row_mean, const at::Tensor& column_mean,
                                               const at::Tensor& product_mean, const at::Tensor& row_variance,
                                               const at::Tensor& column_variance, double damping, bool centered);

}  // namespace harmonium::cuda
