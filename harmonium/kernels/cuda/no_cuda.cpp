// In place of glue.cpp where there is no CUDA. A LibTorch without CUDA makes no tensors that lead here; one with it,
// but without our kernels, does.
#include "harmonium/core/device.h"

#include <ATen/ATen.h>
#include "harmonium/core/error.h"
#include "harmonium/kernels/cuda/glue.h"

namespace harmonium::cuda {

namespace {

[[noreturn]] void refuse() { fail("tensors on a CUDA device: {}", cuda_complaint()); }

}  // namespace

Stream stream_of(const at::Tensor&) { refuse(); }
std::string device_name(at::Device) { refuse(); }
at::Tensor uniform(const Key&, at::IntArrayRef, const at::TensorOptions&) { refuse(); }
at::Tensor normal(const Key&, at::IntArrayRef, const at::TensorOptions&) { refuse(); }
at::Tensor permutation(const Key&, std::int64_t, at::Device) { refuse(); }
at::Tensor sample_bernoulli(const Key&, const at::Tensor&) { refuse(); }
at::Tensor sample_bernoulli(const Key&, const at::Tensor&, const at::Tensor&, double) { refuse(); }
at::Tensor logistic(const at::Tensor&) { refuse(); }
at::Tensor sample_logistic(const Key&, const at::Tensor&) { refuse(); }
at::Tensor softplus_row_sums(const at::Tensor&) { refuse(); }
at::Tensor sample_logistic(const Key&, const ScaledField&) { refuse(); }
at::Tensor anneal_logistic(const Key&, const ScaledField&, const ScaledField&, at::Tensor&) { refuse(); }
void adam_directions(const std::vector<AdamTensors>&, const AdamFactors&) { refuse(); }
at::Tensor render(const DrawnParts&, const Canvas&, const OutputForm&) { refuse(); }
at::Tensor contributions(const DrawnParts&, const Canvas&) { refuse(); }
RenderGradient render_error_gradient(const DrawnParts&, const at::Tensor&, const Canvas&, const OutputForm&) {
  refuse();
}

at::Tensor wide_product(const at::Tensor&, const at::Tensor&) { refuse(); }

UnitMoments unit_moments(const at::Tensor&, std::int64_t, double) { refuse(); }

PairRegressions pair_regressions(const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                 const at::Tensor&, double, bool) {
  refuse();
}

}  // namespace harmonium::cuda
