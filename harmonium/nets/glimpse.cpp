#include "harmonium/nets/glimpse.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr double largest_glimpse_logarithm = 7;

// rows × N × pixels: filters along one side. `centre` is g̃, all are rows × 1.
at::Tensor filters_along(std::int64_t pixels, std::int64_t size, const at::Tensor& centre, const at::Tensor& variance,
                         const at::Tensor& stride) {
  const at::Tensor number = at::arange(size, centre.options()) - 0.5 * static_cast<double>(size - 1);
  const at::Tensor middle = 0.5 * static_cast<double>(pixels + 1) * (centre + 1) + stride * number;
  const at::Tensor distance = at::arange(1, pixels + 1, centre.options()) - middle.unsqueeze(2);
  return at::softmax(distance.square() * (-0.5 / variance).unsqueeze(2), 2);
}

}  // namespace

Glimpse::Glimpse(const GlimpseShape& shape, const at::Tensor& place) : shape_(shape) {
  require(shape.height >= 1 && shape.width >= 1 && shape.size >= 1,
          "a grid of {} filters on pictures of {} × {} pixels: all must be at least 1", shape.size, shape.height,
          shape.width);
  require(place.dim() == 2 && place.size(1) == GlimpseShape::numbers, "a grid of filters is placed by {} numbers",
          GlimpseShape::numbers);
  const at::Tensor scales = place.narrow(1, 2, 3).clamp(-largest_glimpse_logarithm, largest_glimpse_logarithm).exp();
  const auto gaps = static_cast<double>(std::max<std::int64_t>(1, shape.size - 1));
  const at::Tensor variance = scales.narrow(1, 0, 1);
  const at::Tensor stride =
      scales.narrow(1, 1, 1) * (static_cast<double>(std::max(shape.height, shape.width) - 1) / gaps);
  over_columns_ = filters_along(shape.width, shape.size, place.narrow(1, 0, 1), variance, stride);
  over_rows_ = filters_along(shape.height, shape.size, place.narrow(1, 1, 1), variance, stride);
  intensity_ = scales.narrow(1, 2, 1);
}

at::Tensor Glimpse::read(const at::Tensor& pictures) const {
  const at::Tensor seen = over_rows_.bmm(pictures.reshape({-1, shape_.height, shape_.width}));
  return seen.bmm(over_columns_.transpose(1, 2)).reshape({-1, shape_.size * shape_.size}) * intensity_;
}

at::Tensor Glimpse::write(const at::Tensor& patches) const {
  const at::Tensor spread = over_rows_.transpose(1, 2).bmm(patches.reshape({-1, shape_.size, shape_.size}));
  return spread.bmm(over_columns_).reshape({-1, shape_.height * shape_.width}) / intensity_;
}

}  // namespace harmonium
