#include "harmonium/kernels/cuda/glue.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/version.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/cuda/adam.h"
#include "harmonium/kernels/cuda/pair_regression.h"
#include "harmonium/kernels/cuda/render_templates.h"
#include "harmonium/kernels/cuda/unit_statistics.h"

namespace harmonium::cuda {

namespace {

// Arguments were looked at by the functions of kernels/ that call these.
template <class T>
class FieldOnDevice {
 public:
  explicit FieldOnDevice(const ScaledField& field)
      : input_(field.input.contiguous()), bias_(field.bias.contiguous()), scale_(static_cast<T>(field.scale)) {}
  [[nodiscard]] FieldTable<T> table() const { return {input_.data_ptr<T>(), bias_.data_ptr<T>(), scale_}; }

 private:
  at::Tensor input_, bias_;
  T scale_;
};

// Parts that lie in one piece each, while kernels read them.
class PartsOnDevice {
 public:
  PartsOnDevice(const DrawnParts& parts, const Canvas& canvas)
      : poses_(parts.poses.detach().contiguous()),
        intensities_(parts.intensities.detach().contiguous()),
        templates_(parts.templates.detach().contiguous()),
        sizes_{.pictures = poses_.size(0),
               .parts = static_cast<int>(poses_.size(1)),
               .channels = static_cast<int>(templates_.size(1)),
               .template_size = static_cast<int>(templates_.size(2)),
               .rows = static_cast<int>(canvas.rows),
               .columns = static_cast<int>(canvas.columns)} {}
  template <class T>
  [[nodiscard]] RenderInput<T> input() const {
    return {poses_.data_ptr<T>(), intensities_.data_ptr<T>(), templates_.data_ptr<T>()};
  }
  [[nodiscard]] const RenderSizes& sizes() const { return sizes_; }
  [[nodiscard]] at::TensorOptions options() const { return poses_.options(); }
  [[nodiscard]] DrawnParts room_for_gradient() const {
    return {.poses = at::empty_like(poses_),
            .intensities = at::empty_like(intensities_),
            .templates = at::empty_like(templates_)};
  }

 private:
  at::Tensor poses_, intensities_, templates_;
  RenderSizes sizes_;
};

}  // namespace

Stream stream_of(const at::Tensor& x) { return c10::cuda::getCurrentCUDAStream(x.device().index()).stream(); }

std::string device_name(at::Device device) {
  cudaDeviceProp properties{};
  const cudaError_t failure = cudaGetDeviceProperties(&properties, device.index());
  require(failure == cudaSuccess, "a CUDA device does not say what it is: {}", cudaGetErrorString(failure));
  return properties.name;
}

at::Tensor uniform(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options) {
  at::Tensor out = at::empty(sizes, options);
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "uniform",
                             [&] { launch_uniform(key, out.numel(), out.data_ptr<scalar_t>(), stream_of(out)); });
  return out;
}

at::Tensor normal(const Key& key, at::IntArrayRef sizes, const at::TensorOptions& options) {
  at::Tensor out = at::empty(sizes, options);
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "normal",
                             [&] { launch_normal(key, out.numel(), out.data_ptr<scalar_t>(), stream_of(out)); });
  return out;
}

at::Tensor permutation(const Key& key, std::int64_t n, at::Device device) {
  const at::Tensor tags = at::empty({n}, at::TensorOptions(at::kLong).device(device));
  const c10::DeviceGuard guard(device);
  launch_tags(key, n, tags.data_ptr<std::int64_t>(), stream_of(tags));
  return std::get<1>(at::sort(tags, /*stable=*/true, /*dim=*/0, /*descending=*/false));  // ties by index, as on the CPU
}

at::Tensor sample_bernoulli(const Key& key, const at::Tensor& probability) {
  const at::Tensor p = probability.contiguous();
  at::Tensor out = at::empty_like(p);
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(p.scalar_type(), "sample_bernoulli", [&] {
    launch_sample_bernoulli<scalar_t>(key, p.numel(), p.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), stream_of(out));
  });
  return out;
}

at::Tensor sample_bernoulli(const Key& key, const at::Tensor& bytes, const at::Tensor& rows, double scale) {
  require(rows.device() == bytes.device(), "numbers of rows and the table they are picked from are on two devices");
  at::Tensor out = at::empty({rows.size(0), bytes.size(1)}, bytes.options().dtype(at::kFloat));
  const c10::DeviceGuard guard(out.device());
  launch_sample_bernoulli(key,
                          {.bytes = bytes.data_ptr<std::uint8_t>(),
                           .known = bytes.size(0),
                           .columns = bytes.size(1),
                           .rows = rows.data_ptr<std::int64_t>(),
                           .count = rows.size(0),
                           .scale = static_cast<float>(scale)},
                          out.data_ptr<float>(), stream_of(out));
  return out;
}

at::Tensor logistic(const at::Tensor& field) {
  const at::Tensor in = field.contiguous();
  at::Tensor out = at::empty_like(in);
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "logistic", [&] {
    launch_logistic<scalar_t>(in.numel(), in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), stream_of(out));
  });
  return out;
}

at::Tensor sample_logistic(const Key& key, const at::Tensor& field) {
  const at::Tensor in = field.contiguous();
  at::Tensor out = at::empty_like(in);
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "sample_logistic", [&] {
    launch_sample_logistic<scalar_t>(key, in.numel(), in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(),
                                     stream_of(out));
  });
  return out;
}

at::Tensor softplus_row_sums(const at::Tensor& field) {
  const at::Tensor in = field.contiguous();
  at::Tensor out = at::empty({in.size(0)}, in.options().dtype(at::kDouble));
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "softplus_row_sums", [&] {
    launch_softplus_row_sums<scalar_t>(in.size(0), in.size(1), in.data_ptr<scalar_t>(), out.data_ptr<double>(),
                                       stream_of(out));
  });
  return out;
}

at::Tensor sample_logistic(const Key& key, const ScaledField& field) {
  at::Tensor out = at::empty(field.input.sizes(), field.input.options());
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "sample_logistic", [&] {
    const FieldOnDevice<scalar_t> ready(field);
    launch_sample_logistic<scalar_t>(key, out.size(0), out.size(1), ready.table(), out.data_ptr<scalar_t>(),
                                     stream_of(out));
  });
  return out;
}

at::Tensor anneal_logistic(const Key& key, const ScaledField& before, const ScaledField& after,
                           at::Tensor& log_weights) {
  require(log_weights.device() == after.input.device(), "log-weights and fields are on two devices");
  at::Tensor out = at::empty(after.input.sizes(), after.input.options());
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "anneal_logistic", [&] {
    const FieldOnDevice<scalar_t> from(before), to(after);
    launch_anneal_logistic<scalar_t>(key, out.size(0), out.size(1), from.table(), to.table(),
                                     log_weights.data_ptr<double>(), out.data_ptr<scalar_t>(), stream_of(out));
  });
  return out;
}

void adam_directions(const std::vector<AdamTensors>& parameters, const AdamFactors& factors) {
  const at::Tensor& one = parameters.front().gradient;
  const c10::DeviceGuard guard(one.device());
  AT_DISPATCH_FLOATING_TYPES(one.scalar_type(), "adam_directions", [&] {
    const AdamNumbers<scalar_t> numbers{.first_decay = static_cast<scalar_t>(factors.first_decay),
                                        .second_decay = static_cast<scalar_t>(factors.second_decay),
                                        .new_first = static_cast<scalar_t>(1 - factors.first_decay),
                                        .new_second = static_cast<scalar_t>(1 - factors.second_decay),
                                        .first_scale = static_cast<scalar_t>(factors.first_scale),
                                        .second_scale = static_cast<scalar_t>(factors.second_scale),
                                        .floor = static_cast<scalar_t>(factors.floor)};
    std::vector<at::Tensor> in_one_piece;  // alive until the kernel that reads them is on the stream
    std::vector<AdamPiece<scalar_t>> pieces;
    const auto launch = [&] {
      launch_adam<scalar_t>(pieces.data(), static_cast<int>(pieces.size()), numbers, stream_of(one));
      pieces.clear();
      in_one_piece.clear();
    };
    for (const AdamTensors& each : parameters) {
      in_one_piece.push_back(each.gradient.contiguous());
      pieces.push_back({in_one_piece.back().template data_ptr<scalar_t>(), each.first.template data_ptr<scalar_t>(),
                        each.second.template data_ptr<scalar_t>(), each.direction.template data_ptr<scalar_t>(),
                        each.gradient.numel()});
      if (pieces.size() == most_adam_pieces) launch();
    }
    if (!pieces.empty()) launch();
  });
}

at::Tensor render(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form) {
  const PartsOnDevice ready(parts, canvas);
  at::Tensor picture = at::empty({ready.sizes().pictures, canvas.pixels()}, ready.options());
  const c10::DeviceGuard guard(picture.device());
  AT_DISPATCH_FLOATING_TYPES(picture.scalar_type(), "render", [&] {
    launch_render<scalar_t>(ready.input<scalar_t>(), ready.sizes(), form, picture.data_ptr<scalar_t>(), {},
                            stream_of(picture));
  });
  return picture;
}

at::Tensor contributions(const DrawnParts& parts, const Canvas& canvas) {
  const PartsOnDevice ready(parts, canvas);
  at::Tensor out = at::empty({ready.sizes().pictures, ready.sizes().parts, canvas.pixels()}, ready.options());
  const c10::DeviceGuard guard(out.device());
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "contributions", [&] {
    launch_contributions<scalar_t>(ready.input<scalar_t>(), ready.sizes(), out.data_ptr<scalar_t>(), stream_of(out));
  });
  return out;
}

RenderGradient render_error_gradient(const DrawnParts& parts, const at::Tensor& target, const Canvas& canvas,
                                     const OutputForm& form) {
  const PartsOnDevice ready(parts, canvas);
  const at::Tensor wanted = target.detach().contiguous();
  const std::int64_t rows = ready.sizes().pictures;
  const c10::DeviceGuard guard(wanted.device());
  RenderGradient found{.squared_error = at::empty({rows}, ready.options().dtype(at::kDouble)),
                       .gradient = ready.room_for_gradient()};
  // A mark and a factor of each pixel; 64-bit words: the sums of templates, and the bound that they keep to.
  const at::Tensor kept = at::empty({2, rows * canvas.pixels()}, ready.options()),
                   words = at::zeros({parts.templates.numel() + 1}, ready.options().dtype(at::kLong));
  AT_DISPATCH_FLOATING_TYPES(wanted.scalar_type(), "render_error_gradient", [&] {
    auto* sums = reinterpret_cast<unsigned long long*>(words.data_ptr<std::int64_t>());
    auto* marks = kept.data_ptr<scalar_t>();
    const RenderComparison<scalar_t> comparison{.target = wanted.data_ptr<scalar_t>(),
                                                .marks = marks,
                                                .factors = marks + rows * canvas.pixels(),
                                                .squared_error = found.squared_error.data_ptr<double>(),
                                                .bound = sums + parts.templates.numel()};
    const RenderedGradient<scalar_t> gradient{.poses = found.gradient.poses.data_ptr<scalar_t>(),
                                              .intensities = found.gradient.intensities.data_ptr<scalar_t>(),
                                              .templates = found.gradient.templates.data_ptr<scalar_t>(),
                                              .sums = sums};
    const Stream stream = stream_of(wanted);
    launch_render<scalar_t>(ready.input<scalar_t>(), ready.sizes(), form, nullptr, comparison, stream);
    launch_render_gradient<scalar_t>(ready.input<scalar_t>(), ready.sizes(), form, comparison, gradient, stream);
  });
  return found;
}

at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
  return at::mm(a, b, at::kFloat);
#else
  return a.to(at::kFloat).mm(b.to(at::kFloat));  // halves would be rounded to halves
#endif
}

UnitMoments unit_moments(const at::Tensor& sums, std::int64_t count, double share) {
  require(sums.is_contiguous() && sums.scalar_type() == at::kFloat && sums.size(0) >= count && sums.size(1) > count,
          "sums of products are a float32 matrix with a column more than there are units");
  UnitMoments result{at::empty({count}, sums.options()), at::empty({count, count}, sums.options())};
  const c10::DeviceGuard guard(sums.device());
  launch_unit_moments(sums.data_ptr<float>(), sums.stride(0), count, static_cast<float>(share),
                      result.mean.data_ptr<float>(), result.second_moment.data_ptr<float>(), stream_of(sums));
  return result;
}

PairRegressions pair_regressions(const at::Tensor& row_mean, const at::Tensor& column_mean,
                                 const at::Tensor& product_mean, const at::Tensor& row_variance,
                                 const at::Tensor& column_variance, double damping, bool centered) {
  require(product_mean.dim() == 2 && product_mean.stride(1) == 1, "means of products are a matrix, row by row");
  const std::int64_t rows = product_mean.size(0), columns = product_mean.size(1);
  const at::Tensor p = row_mean.contiguous(), q = column_mean.contiguous(), first = row_variance.contiguous(),
                   second = column_variance.contiguous();
  const auto room = [&] { return at::empty({rows, columns}, product_mean.options()); };
  PairRegressions result{room(), room(), room()};
  const c10::DeviceGuard guard(product_mean.device());
  AT_DISPATCH_FLOATING_TYPES(product_mean.scalar_type(), "pair_regressions", [&] {
    launch_pair_regression<scalar_t>({.rows = rows,
                                      .columns = columns,
                                      .row_mean = p.data_ptr<scalar_t>(),
                                      .column_mean = q.data_ptr<scalar_t>(),
                                      .product_mean = product_mean.data_ptr<scalar_t>(),
                                      .stride = product_mean.stride(0),
                                      .row_variance = first.data_ptr<scalar_t>(),
                                      .column_variance = second.data_ptr<scalar_t>(),
                                      .damping = static_cast<scalar_t>(damping),
                                      .centered = centered,
                                      .on_first = result.on_first.data_ptr<scalar_t>(),
                                      .on_second = result.on_second.data_ptr<scalar_t>(),
                                      .variance = result.variance.data_ptr<scalar_t>()},
                                     stream_of(product_mean));
  });
  return result;
}

}  // namespace harmonium::cuda
