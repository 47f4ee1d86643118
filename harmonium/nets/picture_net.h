// Nets between a picture and a row of numbers: an encoder of strided convolutions, and a decoder of transposed ones
// that runs the same way back.
//
//   encoder   h = W_0 ∗ x;   per halving: h ← blocks(halve(f(h)));   y = W f(h) + b
//   decoder   h = W z + b;   per halving: h ← double(f(blocks(h)));  y = W_0 ∗ f(h) + B,  B of every pixel and column
//
// f is the exponential linear unit, blocks are gated residual ones (nets/gated_residual.h), h has `channels` numbers at
// every place, convolutions are 3 × 3. Pictures of any size are taken: halves are rounded up. A pixel has `columns`
// numbers on the side of the decoder (raw columns of its distribution), side by side. Nothing is normalized over
// batches, so a row is a function of its own picture alone.
#pragma once

#include "harmonium/nets/causal_convolution.h"
#include "harmonium/nets/dense.h"
#include "harmonium/nets/gated_residual.h"
#include "harmonium/nets/net.h"
#include "harmonium/nets/strided_convolution.h"

namespace harmonium {

struct PictureNetShape {
  std::int64_t height = 28, width = 28;
  std::int64_t channels = 32;
  std::int64_t blocks = 1;  // after each halving, or before each doubling
  std::int64_t halvings = 2;

  // Rows and columns after so many halvings.
  [[nodiscard]] std::int64_t rows(std::int64_t times) const;
  [[nodiscard]] std::int64_t columns(std::int64_t times) const;
  // Numbers of the smallest picture.
  [[nodiscard]] std::int64_t smallest() const { return channels * rows(halvings) * columns(halvings); }
  // Of either net, but for the affine map between the smallest picture and the row; multiplications for a row.
  [[nodiscard]] double weights() const;
  [[nodiscard]] double products() const;
  // Empty where such nets can be made; else why not.
  [[nodiscard]] std::string complaint() const;
};

// What the two nets share: blocks of each scale, and the affine map.
class PictureNet : public Net {
 protected:
  PictureNet(std::string prefix, const PictureNetShape& shape, StridedConvolution::Way way);
  // Blocks after `halvings` of them.
  [[nodiscard]] at::Tensor through_blocks(const Moments& parameters, std::int64_t halvings, at::Tensor values) const;
  void declare_scales(Moments& parameters, at::ScalarType type) const;
  void initialize_scales(Moments& parameters, const Key& key) const;

  std::string prefix_;
  PictureNetShape shape_;
  std::vector<StridedConvolution> steps_;           // from the full size to half, …
  std::vector<std::vector<GatedResidual>> blocks_;  // of half the size, …
};

// Pixels → outputs.
class PictureEncoder final : public PictureNet {
 public:
  PictureEncoder(const std::string& prefix, const PictureNetShape& shape, std::int64_t outputs);
  [[nodiscard]] std::int64_t inputs() const override { return shape_.height * shape_.width; }
  [[nodiscard]] std::int64_t outputs() const override { return head_.outputs(); }
  void declare(Moments& parameters, at::ScalarType type) const override;
  void initialize(Moments& parameters, const Key& key) const override;
  [[nodiscard]] std::string output_bias() const override { return head_.output_bias(); }
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& input) const override;

 private:
  CausalConvolution stem_;
  Dense head_;
};

// Inputs → pixels × columns, the columns of a pixel side by side.
class PictureDecoder final : public PictureNet {
 public:
  PictureDecoder(const std::string& prefix, const PictureNetShape& shape, std::int64_t inputs, std::int64_t columns);
  [[nodiscard]] std::int64_t inputs() const override { return root_.inputs(); }
  [[nodiscard]] std::int64_t outputs() const override { return shape_.height * shape_.width * columns_; }
  void declare(Moments& parameters, at::ScalarType type) const override;
  void initialize(Moments& parameters, const Key& key) const override;
  [[nodiscard]] std::string output_bias() const override { return prefix_ + "output.bias"; }
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& input) const override;

 private:
  std::int64_t columns_;
  Dense root_;
  CausalConvolution output_;
};

}  // namespace harmonium
