// Parts to draw (kernels/render_templates.h), for tests of the CPU and of devices.
#pragma once

#include <ATen/ATen.h>

#include <array>

#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_templates.h"

namespace harmonium::support {

inline constexpr std::array all_output_models = {OutputModel::semisoft,    OutputModel::sum,      OutputModel::maximum,
                                                 OutputModel::soft,        OutputModel::logistic, OutputModel::clamped,
                                                 OutputModel::soft_clamped};

struct DrawnSize {
  std::int64_t rows = 5, parts = 3, channels = 1, side = 4;
  Canvas canvas{7, 6};
};

// Parts of all sizes and turns, some of them mirrored, near the middle.
inline DrawnParts random_parts(const DrawnSize& size, std::uint64_t seed, at::ScalarType type = at::kDouble) {
  const Key key(seed);
  const at::Tensor a =
      2.5 * (uniform(key.fold_in(0), {size.rows, size.parts, 2, 2}, at::kDouble) - 0.5) + 0.5 * at::eye(2, at::kDouble);
  const at::Tensor t = 0.5 + 0.4 * (uniform(key.fold_in(1), {size.rows, size.parts, 2, 1}, at::kDouble) - 0.5);
  const at::Tensor b = 0.5 - at::matmul(a, t);
  return {
      .poses = at::cat({a, b}, 3).to(type),
      .intensities = uniform(key.fold_in(2), {size.rows, size.parts, size.channels}, at::kDouble).add(0.2).to(type),
      .templates = uniform(key.fold_in(3), {size.parts, size.channels, size.side, size.side}, at::kDouble).to(type)};
}

inline at::Tensor random_pictures(const DrawnSize& size, at::ScalarType type = at::kDouble) {
  return uniform(Key(9), {size.rows, size.canvas.pixels()}, at::kDouble).to(type);
}

// How far the place nearest to a cell's edge is from it, in pixels of a template: gradients jump there.
inline double distance_to_edges(const DrawnParts& parts, const Canvas& canvas) {
  const auto middles = [](std::int64_t n) { return (at::arange(n, at::kDouble) + 0.5) / static_cast<double>(n); };
  const at::Tensor x = middles(canvas.columns).repeat({canvas.rows}),
                   y = middles(canvas.rows).repeat_interleave(canvas.columns),
                   points = at::stack({x, y, at::ones_like(x)});
  const at::Tensor places =
      static_cast<double>(parts.templates.size(3)) * at::matmul(parts.poses.to(at::kDouble), points) - 0.5;
  return (places - places.round()).abs().min().item<double>();
}

}  // namespace harmonium::support
