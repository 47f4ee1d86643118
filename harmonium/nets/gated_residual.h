// A gated residual block of two causal convolutions, as in gated PixelCNN and PixelCNN++ (van den Oord et al. 2016;
// Salimans et al. 2017), with exponential linear units in place of tanh:
//
//   y = x + a ∘ σ(g),   [a, g] = W₂ ∗ drop(f(W₁ ∗ f(x) + U f(s) + b₁)) + b₂,   f(x) = x where x > 0, else eˣ − 1
//
// x, y and the optional side input s have the same N × channels × rows × columns; U joins equal places. A pixel costs
// about 3 · taps · channels² multiplications (and channels² for s), taps being the pixels that a convolution looks at.
#pragma once

#include <optional>

#include "harmonium/nets/causal_convolution.h"

namespace harmonium {

class GatedResidual {
 public:
  // Parameters are NAME.first, NAME.second and, with a side input, NAME.side, each with weights and bias.
  GatedResidual(const std::string& name, std::int64_t channels, Border border, bool has_side);

  void declare(Moments& parameters, at::ScalarType type) const;
  void initialize(Moments& parameters, const Key& key) const;
  [[nodiscard]] double weights() const;
  // `side` is undefined where the block has none.
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& values, const at::Tensor& side,
                                   PicturePass& pass) const;

 private:
  CausalConvolution first_, second_;
  std::optional<CausalConvolution> side_;
};

// a ∘ σ(g), where the first half of the channels is a and the second half g.
[[nodiscard]] at::Tensor gated(const at::Tensor& values);

}  // namespace harmonium
