// A net of causal convolutions over binary pictures, with attention: the distribution of every pixel given all those
// before it in raster order, in one pass (van den Oord, Kalchbrenner & Kavukcuoglu 2016; van den Oord et al. 2016;
// Salimans et al. 2017; Chen et al. 2018).
//
//   log p(x) = Σ_i log Bernoulli(x_i; σ(a_i)),   a_i a function of x_1 … x_{i−1} alone
//
// Two streams of `channels` values at every pixel go through `blocks` gated residual blocks (nets/gated_residual.h):
//
//   vertical    sees the rows above its pixel; its convolutions are wide (2 rows × 3 pixels for a kernel of 3)
//   horizontal  sees the same by the vertical stream of its own place, and pixels to the left by its own convolutions,
//               which look above and to the left (2 × 2)
//
// so that no earlier pixel is in a blind spot, as a single stream of masked convolutions has one to the upper right.
// The first layers look `kernel` pixels up, left and right at the picture (values ±1, and 0 outside), and each block
// two times (kernel − 1)/2 further. Attention after some of the blocks sees everything that comes before. Both streams
// begin with numbers of their own for each place of the picture, and the output has a bias for each pixel.
//
// Weights of all blocks lie in one tensor, blocks × outputs × inputs × rows × columns, so that an update of many small
// blocks is a few operations; those of all attentions likewise.
//
// Cost: a row is one pass, about pixels × weights multiplications. A draw computes every pixel once, in windows of one
// pixel (nets/picture_pass.h): about the products of one pass, in as many small steps as there are pixels.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/distributions/bernoulli.h"
#include "harmonium/models/autoregressive/ordered_draw.h"
#include "harmonium/nets/causal_attention.h"
#include "harmonium/nets/gated_residual.h"

namespace harmonium {

struct PixelNetStructure {
  std::int64_t height = 28, width = 28;
  std::int64_t channels = 64;  // of each stream
  std::int64_t blocks = 8;     // of each stream
  std::int64_t attention = 2;  // so many of the blocks, evenly spread, the last among them, are followed by attention
  std::int64_t kernel = 3;     // odd: pixels that a convolution of a block is wide
};

class PixelNet {
 public:
  // Parameters are zero.
  explicit PixelNet(PixelNetStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const PixelNetStructure& structure() const { return structure_; }
  [[nodiscard]] std::int64_t pixels() const { return structure_.height * structure_.width; }
  [[nodiscard]] const Distribution& visible() const { return visible_; }
  // Raster: 0 … pixels − 1.
  [[nodiscard]] std::vector<std::int64_t> order() const;
  // Whether attention follows block number 0, 1, …
  [[nodiscard]] bool attends_after(std::int64_t block) const;
  // Multiplications for a row, in one pass.
  [[nodiscard]] double products() const;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same net under other parameters (shared, not copied).
  [[nodiscard]] PixelNet with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] PixelNet to(const at::TensorOptions& options) const;

  // Log-odds of every pixel given those before it, rows × pixels. Differentiable. With dropout, a share of the values
  // inside blocks is zero, drawn by the key.
  [[nodiscard]] at::Tensor raw(const Moments& parameters, const at::Tensor& rows, double dropout = 0,
                               const Key& key = Key(0)) const;
  // log p(x), rows, float64. Differentiable.
  [[nodiscard]] at::Tensor log_prob(const Moments& parameters, const at::Tensor& rows, double dropout = 0,
                                    const Key& key = Key(0)) const;
  // log p(x_i | …) of every pixel under its own parameters, rows × pixels.
  [[nodiscard]] at::Tensor log_conditionals(const at::Tensor& rows) const;
  // log p(x) under its own parameters, for any number of rows that may be anywhere. float64. `done` is told rows done
  // where they are too many for one part.
  [[nodiscard]] at::Tensor log_probabilities(
      const at::Tensor& rows, const std::function<void(std::int64_t done, std::int64_t total)>& done = {}) const;

  // Independent draws.
  [[nodiscard]] OrderedDraw sample(const Key& key, std::int64_t count) const;
  // Draws pixels from their exact distribution given the known ones, which must come before all others and be the same
  // in every row: else it fails. `known`: rows × pixels, NaN where a pixel is free.
  [[nodiscard]] OrderedDraw complete(const Key& key, const at::Tensor& known) const;

 private:
  friend void initialize(PixelNet& net, const Key& key, const at::Tensor& data_means);
  // Parameters, with those of single blocks and attentions as views into the tensors of all.
  struct Unstacked {
    Moments rest;
    std::vector<Moments> blocks, attention;
  };
  [[nodiscard]] Unstacked unstacked(const Moments& parameters) const;
  // The vertical stream in the pass's window, as the first layer and every block leave it.
  [[nodiscard]] std::vector<at::Tensor> vertical(const Unstacked& parameters, const at::Tensor& picture,
                                                 PicturePass& pass) const;
  // Log-odds in the window (N × 1 × rows × columns), given the vertical stream there.
  [[nodiscard]] at::Tensor horizontal(const Unstacked& parameters, const at::Tensor& picture,
                                      const std::vector<at::Tensor>& above, PicturePass& pass) const;
  // The answer for rows, worked off in parts that bound memory.
  [[nodiscard]] at::Tensor in_parts(const at::Tensor& rows,
                                    const std::function<at::Tensor(const at::Tensor& part)>& answer,
                                    const std::function<void(std::int64_t done, std::int64_t total)>& done = {}) const;
  [[nodiscard]] at::Tensor picture_of(const at::Tensor& rows) const;
  // Draws what comes at place `first` and later.
  [[nodiscard]] OrderedDraw walk(const Key& key, const at::Tensor& rows, std::int64_t first) const;
  [[nodiscard]] at::TensorOptions options() const;

  PixelNetStructure structure_;
  BernoulliDistribution visible_;
  CausalConvolution first_above_, first_left_, before_output_, output_;
  GatedResidual vertical_, horizontal_;  // of every block
  CausalAttention attention_;
  Moments parameters_;
};

// Weights as their layers begin, those of the output zero, output biases at the log-odds of the data's means: so the
// first model is the product of the pixels' frequencies.
void initialize(PixelNet& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
