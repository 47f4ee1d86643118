#include "harmonium/kernels/render_templates.h"

#include <ATen/ATen.h>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <limits>
#include <utility>

#include "harmonium/core/error.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/kernels/render_loop.h"
#include "harmonium/kernels/render_tensors.h"

namespace harmonium {

namespace {

using render_loop::Scratch;
using render_loop::Sizes;

constexpr std::int64_t rows_in_piece = 64;

template <class T>
struct Tables {
  const T *poses, *intensities, *templates, *target;
  T *picture, *contributions, *of_poses, *of_intensities, *of_templates;  // null where nobody asks
  double* squared_error;
};

template <class T>
HARMONIUM_INLINE void make_picture(const Sizes& sizes, const OutputForm& form, Scratch<T>& scratch) {
  using render_loop::by_sum;
  switch (form.model) {
    case OutputModel::semisoft:
      return render_loop::soften(static_cast<T>(form.sharpness), sizes, scratch);
    case OutputModel::soft:
      return render_loop::soften(T(1), sizes, scratch);
    case OutputModel::maximum:
      return render_loop::by_maximum(sizes, scratch);
    case OutputModel::sum:
      return by_sum(sizes, scratch, [](T a) { return sum_pixel(a); });
    case OutputModel::logistic:
      return by_sum(sizes, scratch, [](T a) { return logistic_pixel(a); });
    case OutputModel::clamped:
      return by_sum(sizes, scratch, [](T a) { return clamped_pixel(a); });
    case OutputModel::soft_clamped:
      return by_sum(sizes, scratch, [](T a) { return soft_clamped_pixel(a); });
  }
}

template <class T>
HARMONIUM_INLINE void draw_rows(const Tables<T>& tables, const Sizes& sizes, const OutputForm& form, std::int64_t begin,
                                std::int64_t end, T* of_templates, Scratch<T>& scratch) {
  const std::int64_t K = sizes.parts, L = sizes.channels, P = sizes.pixels();
  for (std::int64_t b = begin; b < end; ++b) {
    const T *pose = tables.poses + b * K * 6, *intensity = tables.intensities + b * K * L;
    for (std::int64_t k = 0; k < K; ++k)
      render_loop::draw_part(pose + k * 6, intensity + k * L, tables.templates, k, sizes, scratch);
    if (tables.contributions != nullptr) {
      T* to = tables.contributions + b * K * P;
      render_loop::for_each_span(sizes, scratch, [&](std::int64_t, std::int64_t from, std::int64_t count) {
        std::copy_n(scratch.value.data() + from, count, to + from);
      });
      continue;
    }
    make_picture(sizes, form, scratch);
    if (tables.picture != nullptr) std::copy_n(scratch.picture.data(), P, tables.picture + b * P);
    if (tables.target == nullptr) continue;
    double squares = 0;
    for (std::int64_t p = 0; p < P; ++p) {
      const T off = scratch.picture[static_cast<std::size_t>(p)] - tables.target[b * P + p];
      squares += static_cast<double>(off) * static_cast<double>(off);
      scratch.picture[static_cast<std::size_t>(p)] = 2 * off;
    }
    tables.squared_error[b] = squares;
    for (std::int64_t k = 0; k < K; ++k)
      render_loop::back_through_part(pose + k * 6, intensity + k * L, k, sizes, scratch, scratch.picture.data(),
                                     tables.of_poses + (b * K + k) * 6, tables.of_intensities + (b * K + k) * L,
                                     of_templates);
  }
}

// Compiled per instruction set, so each is a plain function: attributes of that kind do not go on templates.
HARMONIUM_CLONES void draw_piece(const Tables<float>& tables, const Sizes& sizes, const OutputForm& form,
                                 std::int64_t begin, std::int64_t end, float* of_templates, Scratch<float>& scratch) {
  draw_rows(tables, sizes, form, begin, end, of_templates, scratch);
}
HARMONIUM_CLONES void draw_piece(const Tables<double>& tables, const Sizes& sizes, const OutputForm& form,
                                 std::int64_t begin, std::int64_t end, double* of_templates, Scratch<double>& scratch) {
  draw_rows(tables, sizes, form, begin, end, of_templates, scratch);
}

struct Asked {
  bool picture = false, contributions = false, gradient = false;
};

struct Drawn {
  at::Tensor picture, contributions;
  RenderGradient error;
};

Drawn draw(const DrawnParts& given, const at::Tensor& target, const Canvas& canvas, const OutputForm& form,
           const Asked& asked) {
  const DrawnParts parts{.poses = given.poses.detach().contiguous(),
                         .intensities = given.intensities.detach().contiguous(),
                         .templates = at::constant_pad_nd(given.templates.detach(), {1, 1, 1, 1}).contiguous()};
  const at::Tensor wanted = target.defined() ? target.detach().contiguous() : at::Tensor();
  const Sizes sizes{.parts = parts.poses.size(1),
                    .channels = parts.templates.size(1),
                    .template_size = given.templates.size(2),
                    .rows = canvas.rows,
                    .columns = canvas.columns};
  const std::int64_t B = parts.poses.size(0), pieces = (B + rows_in_piece - 1) / rows_in_piece,
                     of_piece = sizes.parts * sizes.channels * sizes.padded();
  const at::TensorOptions options = parts.poses.options();
  Drawn drawn;
  if (asked.picture) drawn.picture = at::empty({B, sizes.pixels()}, options);
  if (asked.contributions) drawn.contributions = at::zeros({B, sizes.parts, sizes.pixels()}, options);
  at::Tensor of_templates;
  if (asked.gradient) {
    drawn.error = {
        .squared_error = at::empty({B}, options.dtype(at::kDouble)),
        .gradient = {
            .poses = at::empty_like(parts.poses), .intensities = at::empty_like(parts.intensities), .templates = {}}};
    of_templates = at::zeros({pieces, sizes.parts, sizes.channels, sizes.wide(), sizes.wide()}, options);
  }
  AT_DISPATCH_FLOATING_TYPES(parts.poses.scalar_type(), "render_templates", [&] {
    const auto numbers = [](const at::Tensor& x) { return x.defined() ? x.data_ptr<scalar_t>() : nullptr; };
    const Tables<scalar_t> tables{
        .poses = numbers(parts.poses),
        .intensities = numbers(parts.intensities),
        .templates = numbers(parts.templates),
        .target = numbers(wanted),
        .picture = numbers(drawn.picture),
        .contributions = numbers(drawn.contributions),
        .of_poses = numbers(drawn.error.gradient.poses),
        .of_intensities = numbers(drawn.error.gradient.intensities),
        .of_templates = numbers(of_templates),
        .squared_error = asked.gradient ? drawn.error.squared_error.data_ptr<double>() : nullptr};
    at::parallel_for(0, pieces, /*grain_size=*/1, [&](std::int64_t begin, std::int64_t end) {
      Scratch<scalar_t> scratch(sizes);
      for (std::int64_t piece = begin; piece < end; ++piece)
        draw_piece(tables, sizes, form, piece * rows_in_piece, std::min(B, (piece + 1) * rows_in_piece),
                   asked.gradient ? tables.of_templates + piece * of_piece : nullptr, scratch);
    });
  });
  if (asked.gradient) {
    at::Tensor total = at::zeros({sizes.parts, sizes.channels, sizes.wide(), sizes.wide()}, options);
    for (std::int64_t piece = 0; piece < pieces; ++piece) total += of_templates[piece];
    drawn.error.gradient.templates =
        total.narrow(2, 1, sizes.template_size).narrow(3, 1, sizes.template_size).contiguous();
  }
  return drawn;
}

}  // namespace

void require_drawable(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form) {
  const auto &M = parts.poses, &I = parts.intensities, &T = parts.templates;
  require(M.dim() == 4 && M.size(1) >= 1 && M.size(2) == 2 && M.size(3) == 3 && I.dim() == 3 && T.dim() == 4 &&
              I.size(0) == M.size(0) && I.size(1) == M.size(1) && T.size(0) == M.size(1) && T.size(1) == I.size(2) &&
              T.size(1) >= 1 && T.size(2) >= 1 && T.size(2) == T.size(3),
          "templates are drawn under rows × parts × 2 × 3 poses with rows × parts × channels intensities, and are "
          "parts × channels × size × size numbers; these do not fit together");
  require(I.scalar_type() == M.scalar_type() && T.scalar_type() == M.scalar_type() && I.device() == M.device() &&
              T.device() == M.device(),
          "poses, intensities and templates must be of one type and on one device");
  require(canvas.rows >= 1 && canvas.columns >= 1, "a picture of {} × {} pixels cannot be drawn", canvas.rows,
          canvas.columns);
  require(form.sharpness > 0, "the sharpness of semisoft must be positive, not {}", form.sharpness);
}

bool has_render_kernel(const DrawnParts& parts, [[maybe_unused]] const Canvas& canvas) {
  if (parts.poses.is_cpu()) return true;
#ifdef HARMONIUM_CUDA
  constexpr std::int64_t most = std::int64_t{1} << 30;
  return parts.poses.is_cuda() && canvas.pixels() <= most && parts.templates.numel() <= most &&
         parts.poses.size(0) <= most && parts.poses.size(1) <= most;
#else
  return false;
#endif
}

at::Tensor render(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form) {
  require_drawable(parts, canvas, form);
  if (parts.poses.is_cpu()) return draw(parts, {}, canvas, form, {.picture = true}).picture;
  return has_render_kernel(parts, canvas) ? cuda::render(parts, canvas, form) : render_by_tensors(parts, canvas, form);
}

at::Tensor contributions(const DrawnParts& parts, const Canvas& canvas) {
  require_drawable(parts, canvas, {});
  if (parts.poses.is_cpu()) return draw(parts, {}, canvas, {}, {.contributions = true}).contributions;
  return has_render_kernel(parts, canvas) ? cuda::contributions(parts, canvas)
                                          : contributions_by_tensors(parts, canvas);
}

RenderGradient render_error_gradient(const DrawnParts& parts, const at::Tensor& target, const Canvas& canvas,
                                     const OutputForm& form) {
  require_drawable(parts, canvas, form);
  require(has_render_kernel(parts, canvas), "the gradient of drawing is not found by a kernel for these sizes on {}",
          parts.poses.device().str());
  require(target.dim() == 2 && target.size(0) == parts.poses.size(0) && target.size(1) == canvas.pixels() &&
              target.scalar_type() == parts.poses.scalar_type() && target.device() == parts.poses.device(),
          "the pictures to compare with must be {} rows of {} pixels, of the type of the poses and on their device",
          parts.poses.size(0), canvas.pixels());
  if (!parts.poses.is_cpu()) return cuda::render_error_gradient(parts, target, canvas, form);
  return draw(parts, target, canvas, form, {.gradient = true}).error;
}

}  // namespace harmonium
