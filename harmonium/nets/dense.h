// A multi-layer perceptron: affine maps with an activation after each but the last.
//
//   x_0 = input,   x_l = f(x_{l−1} W_l + b_l) for l < L,   output = x_{L−1} W_L + b_L,   W_l is inputs × outputs
//
// Parameters are PREFIX + "layer1.weights", "layer1.bias", "layer2.weights", … The initial weights of layer l are
// uniform in ±√(6/(inputs + outputs)), the biases zero: variances of values and of gradients then stay of one size
// from layer to layer (Glorot & Bengio 2010).
#pragma once

#include <vector>

#include "harmonium/nets/activation.h"
#include "harmonium/nets/net.h"

namespace harmonium {

class Dense final : public Net {
 public:
  // `widths`: inputs, hidden layers, outputs; two of them make one affine map.
  Dense(std::string prefix, std::vector<std::int64_t> widths, Activation hidden);

  [[nodiscard]] const std::vector<std::int64_t>& widths() const { return widths_; }
  [[nodiscard]] std::int64_t inputs() const override { return widths_.front(); }
  [[nodiscard]] std::int64_t outputs() const override { return widths_.back(); }
  void declare(Moments& parameters, at::ScalarType type) const override;
  void initialize(Moments& parameters, const Key& key) const override;
  [[nodiscard]] std::string output_bias() const override { return bias_name(widths_.size() - 2); }
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& input) const override;

 private:
  [[nodiscard]] std::string weights_name(std::size_t layer) const;
  [[nodiscard]] std::string bias_name(std::size_t layer) const;

  std::string prefix_;
  std::vector<std::int64_t> widths_;
  Activation hidden_;
};

}  // namespace harmonium
