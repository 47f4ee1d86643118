#include "harmonium/nets/picture_pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

at::Tensor cut_window(const at::Tensor& values, const Window& window) {
  return values.narrow(2, window.row, window.rows).narrow(3, window.column, window.columns);
}

}  // namespace

PicturePass::PicturePass(std::int64_t height, std::int64_t width, double dropout, const Key& key)
    : height_(height), width_(width), dropout_(dropout), key_(key), window_{.rows = height, .columns = width} {
  require(height >= 1 && width >= 1, "a picture needs at least one pixel, not {} × {}", height, width);
}

void PicturePass::move_to(const Window& window) {
  remembers_ = true;
  window_ = window;
}

at::Tensor PicturePass::window_of(const at::Tensor& picture, const Border& border) const {
  const Window around{.row = window_.row,
                      .column = window_.column,
                      .rows = window_.rows + border.above + border.below,
                      .columns = window_.columns + border.left + border.right};
  return cut_window(at::constant_pad_nd(picture, {border.left, std::max<std::int64_t>(0, border.right), border.above,
                                                  std::max<std::int64_t>(0, border.below)}),
                    around);
}

at::Tensor& PicturePass::canvas(const std::string& layer, const at::Tensor& values, const Border& border) {
  at::Tensor& kept = canvases_[{floor_, layer}];
  if (!kept.defined())
    kept = at::zeros({values.size(0), values.size(1), height_ + border.above + border.below,
                      width_ + border.left + border.right},
                     values.options())
               .contiguous(at::MemoryFormat::ChannelsLast);
  cut_window(kept, {.row = window_.row + border.above,
                    .column = window_.column + border.left,
                    .rows = window_.rows,
                    .columns = window_.columns})
      .copy_(values);
  return kept;
}

at::Tensor PicturePass::with_border(const std::string& layer, const at::Tensor& values, const Border& border) {
  if (border.above + border.below + border.left + border.right == 0) return values;
  if (!remembers_) return at::constant_pad_nd(values, {border.left, border.right, border.above, border.below});
  return cut_window(canvas(layer, values, border), {.row = window_.row,
                                                    .column = window_.column,
                                                    .rows = window_.rows + border.above + border.below,
                                                    .columns = window_.columns + border.left + border.right});
}

at::Tensor PicturePass::so_far(const std::string& layer, const at::Tensor& values) {
  return remembers_ ? canvas(layer, values, {}) : values;
}

at::Tensor PicturePass::dropped(const at::Tensor& values) {
  if (dropout_ <= 0) return values;
  // The numbers lie in memory as the values do, channels last.
  at::Tensor kept = uniform(key_.fold_in(drops_++), {values.size(0), values.size(2), values.size(3), values.size(1)},
                            values.options());
  return values * kept.ge_(dropout_).div_(1 - dropout_).permute({0, 3, 1, 2});
}

at::Tensor PicturePass::causal_bias(const at::TensorOptions& options) {
  const std::int64_t pixels = height_ * width_;
  if (!bias_.defined()) bias_ = at::full({pixels, pixels}, -std::numeric_limits<double>::infinity(), options).triu_(1);
  return bias_.view({height_, width_, pixels})
      .narrow(0, window_.row, window_.rows)
      .narrow(1, window_.column, window_.columns)
      .reshape({-1, pixels});
}

}  // namespace harmonium
