// The two passes of a ladder of latent variables (models/directed/ladder.h) over pictures: upwards from the data, and
// downwards from a learned state through all levels.
//
// Level 1 lies next to the data. Level l has `latent` channels of variables on a grid that is the picture, padded by
// zeros on all sides to a multiple of the largest power of two, halved `scale` times. Both passes have `channels`
// numbers at every place of such a grid:
//
//   up     d = stem(x); at every scale, from the full size: gated residual blocks; halved by convolutions of 2 × 2
//   places
//          with stride 2. Each level has blocks of its own, after which d_l is what it knows of the data.
//   down   h = a learned state of the smallest grid; for l = L … 1:
//            prior of level l:      affine in f(h)
//            posterior of level l:  affine in f(h'), h' = a gated residual block of h with d_l as its side input
//            h ← blocks(h + affine(z_l)), repeated 2 × 2 times where the grid below is twice as fine
//          at scales without a level: blocks alone; at last outputs affine in f(h) at every place, the padding cut off
//
// with f the exponential linear unit. Every z_l is added to a stream that runs to the output, which so has a direct way
// from each level. A net of dense data is the same thing on a picture of one place with as many values as columns, and
// kernels of one.
//
// Weights of all blocks of a pass lie in one tensor, blocks × outputs × inputs × rows × columns, so that an update of
// many small blocks is a few operations; those of halvings likewise.
//
// Initial blocks change their stream by 1/√blocks of what a single one would, priors and posteriors begin near N(0, 1),
// and the output at its bias, so that a deep net begins calm without any normalization (Child 2021).
#pragma once

#include <string>
#include <vector>

#include "harmonium/nets/causal_convolution.h"
#include "harmonium/nets/gated_residual.h"

namespace harmonium {

struct LadderNetShape {
  struct Level {
    std::int64_t latent = 32;  // variables at a place
    std::int64_t scale = 0;    // how many times the picture is halved
  };
  std::int64_t height = 1, width = 1;    // of the picture
  std::int64_t inputs = 1, outputs = 1;  // numbers at a pixel
  std::int64_t channels = 64;
  std::int64_t blocks = 4;         // of each level and of each scale that has none, in either pass
  std::int64_t kernel = 3;         // odd
  std::vector<Level> levels = {};  // from the data up: scales never fall
};

class LadderNet {
 public:
  explicit LadderNet(LadderNetShape shape);

  [[nodiscard]] const LadderNetShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t levels() const { return shape_.levels.size(); }
  // Variables of a level, and rows and columns of its grid.
  [[nodiscard]] std::int64_t latent_width(std::size_t level) const;
  [[nodiscard]] std::int64_t grid_rows(std::int64_t scale) const { return padded_height_ >> scale; }
  [[nodiscard]] std::int64_t grid_columns(std::int64_t scale) const { return padded_width_ >> scale; }
  [[nodiscard]] std::int64_t halvings() const { return shape_.levels.back().scale; }
  // Of either pass.
  [[nodiscard]] std::int64_t blocks() const;
  // Numbers of weights, without what biases add, and multiplications for a row in both passes.
  [[nodiscard]] double weights() const;
  [[nodiscard]] double products() const;
  // Numbers that all blocks of both passes put out for a row, and the most in a single tensor.
  [[nodiscard]] double values() const;
  [[nodiscard]] std::int64_t widest() const { return 2 * shape_.channels * padded_height_ * padded_width_; }

  void declare(Moments& parameters, at::ScalarType type) const;
  void initialize(Moments& parameters, const Key& key) const;
  // The bias of the output: pixels × outputs, those of a pixel side by side.
  [[nodiscard]] static std::string output_bias() { return "output.bias"; }

 private:
  friend class LadderPass;
  // Blocks between which nothing is halved: those of a level, or of a scale without one (level −1).
  struct Stretch {
    std::int64_t scale = 0, level = -1;
  };
  struct Unstacked {
    Moments rest;
    std::vector<Moments> up, down, merge, halve;  // of each block, level and halving
  };
  [[nodiscard]] Unstacked unstacked(const Moments& parameters) const;
  [[nodiscard]] double places(std::int64_t scale) const;
  [[nodiscard]] CausalConvolution of_level(std::size_t level, const char* what, std::int64_t inputs,
                                           std::int64_t outputs) const;
  [[nodiscard]] CausalConvolution prior(std::size_t level) const;
  [[nodiscard]] CausalConvolution posterior(std::size_t level) const;
  [[nodiscard]] CausalConvolution enter(std::size_t level) const;

  LadderNetShape shape_;
  std::int64_t padded_height_, padded_width_;
  std::vector<Stretch> stretches_;  // from the data up
  CausalConvolution stem_, output_;
  GatedResidual up_, down_, merge_;
};

// One evaluation of a net: its functions are called from the top level down. With a share of dropout, draws are
// numbered in the order in which blocks ask, so that the same calls with the same key drop the same values.
class LadderPass {
 public:
  LadderPass(const LadderNet& net, const Moments& parameters, double dropout = 0, const Key& key = Key(0));

  // Rows × (inputs · pixels) → d_1 … d_L.
  [[nodiscard]] std::vector<at::Tensor> up(const at::Tensor& rows);
  [[nodiscard]] at::Tensor top(std::int64_t count) const;
  // Of a level given the state above: count × 2 · latent_width, means first.
  [[nodiscard]] at::Tensor prior(std::size_t level, const at::Tensor& state);
  [[nodiscard]] at::Tensor posterior(std::size_t level, const at::Tensor& state, const at::Tensor& data);
  // The state below a level whose variables are `latents`, count × latent_width.
  [[nodiscard]] at::Tensor below(std::size_t level, const at::Tensor& state, const at::Tensor& latents);
  // The state below level 1 → count × (pixels · outputs).
  [[nodiscard]] at::Tensor output(const at::Tensor& state);

 private:
  [[nodiscard]] at::Tensor blocks_up(std::size_t stretch, at::Tensor values);
  [[nodiscard]] at::Tensor blocks_down(std::size_t stretch, at::Tensor values);

  const LadderNet* net_;
  LadderNet::Unstacked parameters_;
  PicturePass pass_;
};

}  // namespace harmonium
