#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_tensors.h"

namespace harmonium::bench {

// Pictures of 28×28 drawn from nine parts of 11×11, as the thesis' capsules draw them, batch 500.
GpuLines gpu_render() {
  constexpr std::int64_t rows = 500, parts = 9, size = 11;
  const Canvas canvas{28, 28};
  const auto numbers = [](std::uint64_t stream, at::IntArrayRef shape) {
    return uniform(Key(stream), shape, at::TensorOptions().device(gpu).dtype(at::kFloat));
  };
  const at::Tensor rest = at::tensor({0.0F, 0.0F, 2.0F, 2.0F, 0.0F, 0.0F}).to(gpu),
                   spread = at::tensor({0.3F, 0.3F, 0.5F, 0.5F, 0.3F, 1.0F}).to(gpu);
  const DrawnParts drawn{.poses = pose_matrix(rest + spread * (numbers(10, {rows, parts, 6}) - 0.5)),
                         .intensities = numbers(11, {rows, parts, 1}),
                         .templates = numbers(12, {parts, 1, size, size})};
  const at::Tensor target = numbers(13, {rows, canvas.pixels()});
  const OutputForm form;

  const auto by_tensors = [&] {
    const auto leaf = [](const at::Tensor& value) { return value.detach().requires_grad_(); };
    const DrawnParts leaves{leaf(drawn.poses), leaf(drawn.intensities), leaf(drawn.templates)};
    (render_by_tensors(leaves, canvas, form) - target).square().sum().backward();
    return leaves.intensities.grad();
  };
  const at::Tensor ours = render_error_gradient(drawn, target, canvas, form).gradient.intensities, plain = by_tensors();
  const double off = ((ours - plain).norm() / plain.norm()).item<double>();
  require(off < 1e-3, "the kernel's gradient of intensities is {} of its size off that of tensor operations", off);
  const double fused = device_median([&] { (void)render_error_gradient(drawn, target, canvas, form); }, 50),
               plainly = device_median([&] { (void)by_tensors(); }, 50);
  return {{"500 pictures of nine parts, error and gradients", fused * 1e6, "µs"},
          {"… by tensor operations", plainly * 1e6, "µs"},
          {"… times faster", plainly / fused, "×"}};
}

}  // namespace harmonium::bench
