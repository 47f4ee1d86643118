#include "harmonium/kernels/render_tensors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Middles of pixels along one side, in the unit frame.
at::Tensor middles(std::int64_t count, const at::TensorOptions& options) {
  return (at::arange(count, options) + 0.5) / static_cast<double>(count);
}

at::Tensor soft_positive(const at::Tensor& x) { return at::softplus(x, 10, 40); }  // log(1 + e^{10x})/10

}  // namespace

at::Tensor contributions_by_tensors(const DrawnParts& parts, const Canvas& canvas) {
  require_drawable(parts, canvas, {});
  const std::int64_t B = parts.poses.size(0), K = parts.poses.size(1), L = parts.templates.size(1),
                     S = parts.templates.size(2), P = canvas.pixels(), wide = S + 2;
  const at::TensorOptions options = parts.poses.options().requires_grad(false);
  const at::Tensor x = middles(canvas.columns, options).repeat({canvas.rows}),
                   y = middles(canvas.rows, options).repeat_interleave(canvas.columns),
                   points = at::stack({x, y, at::ones_like(x)});                             // 3 × P
  const at::Tensor places = at::matmul(parts.poses, points) * static_cast<double>(S) - 0.5;  // B × K × 2 × P
  const at::Tensor u = places.select(2, 0), v = places.select(2, 1);
  const at::Tensor left = u.detach().floor(), above = v.detach().floor();
  const at::Tensor phi = u - left, psi = v - above;
  // A rim of zeros around every template, where all that lies outside ends up.
  const auto column_of = [&](const at::Tensor& i) {
    return (i + 1).clamp(0, static_cast<double>(S + 1)).to(at::kLong);
  };
  const at::Tensor u0 = column_of(left), u1 = column_of(left + 1), v0 = column_of(above), v1 = column_of(above + 1);
  const at::Tensor padded = at::constant_pad_nd(parts.templates, {1, 1, 1, 1}).reshape({1, K, L, wide * wide});
  const auto tap = [&](const at::Tensor& row, const at::Tensor& column) {
    const at::Tensor index = (row * wide + column).unsqueeze(2).expand({B, K, L, P});
    return padded.expand({B, K, L, wide * wide}).gather(3, index);
  };
  const at::Tensor right = phi.unsqueeze(2), below = psi.unsqueeze(2);
  const at::Tensor sampled = (1 - below) * ((1 - right) * tap(v0, u0) + right * tap(v0, u1)) +
                             below * ((1 - right) * tap(v1, u0) + right * tap(v1, u1));
  return (parts.intensities.unsqueeze(3) * sampled).sum(2);
}

at::Tensor picture_of(const at::Tensor& contributions, const OutputForm& form) {
  const auto parts = static_cast<double>(contributions.size(-2));
  const auto softened = [&](double sharpness) {
    return (at::logsumexp(contributions * sharpness, -2) - std::log(parts)) / sharpness;
  };
  switch (form.model) {
    case OutputModel::semisoft:
      return softened(form.sharpness);
    case OutputModel::soft:
      return softened(1);
    case OutputModel::maximum:
      return std::get<0>(contributions.max(-2));
    case OutputModel::sum:
      return contributions.sum(-2);
    case OutputModel::logistic:
      return contributions.sum(-2).sigmoid();
    case OutputModel::clamped:
      return contributions.sum(-2).clamp_max(1);
    case OutputModel::soft_clamped: {
      const at::Tensor one = at::ones({}, contributions.options().requires_grad(false));
      return soft_positive(one) - soft_positive(1 - contributions.sum(-2));
    }
  }
  return {};
}

at::Tensor render_by_tensors(const DrawnParts& parts, const Canvas& canvas, const OutputForm& form) {
  return picture_of(contributions_by_tensors(parts, canvas), form);
}

}  // namespace harmonium
