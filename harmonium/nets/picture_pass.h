// One pass of a causal net over pictures: over all pixels at once, or window by window in raster order.
//
// A causal layer looks at pixels of its own place and before it: above, and to the left. Over a whole picture that is a
// convolution of the values with zeros around them. To draw a picture pixel by pixel, a pass remembers what layers were
// given in earlier windows, so that a new pixel costs what its own window costs: all pixels together take about the
// products of one pass. The layers are the same code in both cases; the pass alone knows which it is.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "harmonium/core/key.h"

namespace harmonium {

// A rectangle of pixels.
struct Window {
  std::int64_t row = 0, column = 0, rows = 0, columns = 0;
};

// How many pixels beside its own place a layer looks at. −1 below or to the right, of a known picture alone: not even
// at its own row or column.
struct Border {
  std::int64_t above = 0, below = 0, left = 0, right = 0;
};

class PicturePass {
 public:
  // Over all pixels. With a share of dropout, draws are numbered in the order in which layers ask.
  PicturePass(std::int64_t height, std::int64_t width, double dropout = 0, const Key& key = Key(0));

  // From now on layers are given a window of the picture, and what they are given is remembered. Windows must come in
  // an order in which everything is computed before a layer looks at it.
  void move_to(const Window& window);
  [[nodiscard]] const Window& window() const { return window_; }
  // Whether layers are given all pixels at once.
  [[nodiscard]] bool is_whole() const { return !remembers_; }
  // Layers of the same name remember values of their own on every floor, so that one serves all blocks of a net.
  void go_to_floor(std::int64_t floor) { floor_ = floor; }

  // The window of a picture (N × C × height × width) that is known as a whole, with its border; zeros outside.
  [[nodiscard]] at::Tensor window_of(const at::Tensor& picture, const Border& border = {}) const;
  // Values of a layer in the window (N × C × rows × columns) with the border; zeros outside the picture.
  [[nodiscard]] at::Tensor with_border(const std::string& layer, const at::Tensor& values, const Border& border);
  // Values of a layer at all pixels (N × C × height × width) as far as they are known, zeros elsewhere.
  [[nodiscard]] at::Tensor so_far(const std::string& layer, const at::Tensor& values);

  // Zero for a share of the values, the others divided by the rest of the share: the mean stays.
  [[nodiscard]] at::Tensor dropped(const at::Tensor& values);

  // What is added to logits of attention: 0 where the pixel of the column comes at or before that of the row in raster
  // order, −∞ elsewhere. Pixels of the window × all pixels.
  [[nodiscard]] at::Tensor causal_bias(const at::TensorOptions& options);

 private:
  [[nodiscard]] at::Tensor& canvas(const std::string& layer, const at::Tensor& values, const Border& border);

  std::int64_t height_, width_;
  double dropout_;
  Key key_;
  std::uint64_t drops_ = 0;
  bool remembers_ = false;
  Window window_;
  std::int64_t floor_ = 0;
  std::map<std::pair<std::int64_t, std::string>, at::Tensor> canvases_;  // of every layer, the picture with its border
  at::Tensor bias_;                                                      // all pixels × all pixels
};

}  // namespace harmonium
