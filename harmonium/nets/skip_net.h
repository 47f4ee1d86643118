// A perceptron whose hidden layers all feed the output, and whose last hidden layer squares (Tieleman 2014, chapter 2:
// the "general-purpose neural network" of capsules).
//
//   h_1 = σ(u W_1 + b_1),   h_l = σ(h_{l−1} W_l + b_l),   h_L = (h_{L−1} W_L + b_L)²,   output = Σ_l h_l V_l + c
//
// Either peculiarity can be left out: without skips only h_L feeds the output, without squares h_L = σ(…) as well.
// Parameters are PREFIX + "hidden1.weights", "hidden1.bias", …, "from1.weights", … (V) and "output.bias". With one
// hidden layer that layer squares. The initial W_1 and a squaring W_L are N(0, 1/inputs of the layer), the other W
// N(0, 4/inputs of the layer), the V N(0, spread/units that feed an output), biases zero.
#pragma once

#include <vector>

#include "harmonium/nets/net.h"

namespace harmonium {

struct SkipNetForm {
  bool skips = true, squares = true;
};

class SkipNet final : public Net {
 public:
  // `hidden`: one width or more. `output_spread`: 0.01 begins near the output bias, whatever the input.
  SkipNet(std::string prefix, std::int64_t inputs, std::vector<std::int64_t> hidden, std::int64_t outputs,
          double output_spread = 0.01, SkipNetForm form = {});

  [[nodiscard]] const std::vector<std::int64_t>& hidden() const { return hidden_; }
  [[nodiscard]] std::int64_t inputs() const override { return inputs_; }
  [[nodiscard]] std::int64_t outputs() const override { return outputs_; }
  void declare(Moments& parameters, at::ScalarType type) const override;
  void initialize(Moments& parameters, const Key& key) const override;
  [[nodiscard]] std::string output_bias() const override { return prefix_ + "output.bias"; }
  [[nodiscard]] std::string weights(std::size_t layer) const;  // W, from layer 0
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& input) const override;

  // The same with hidden values multiplied by masks, one for each layer (rows × units): a value that is dropped is
  // missing in the next layer and in the output alike.
  [[nodiscard]] at::Tensor forward(const Moments& parameters, const at::Tensor& input,
                                   const std::vector<at::Tensor>& masks) const;
  // Masks that drop values with this probability and multiply what is kept by 1/(1 − rate), so that the whole net does
  // what its halves do on average. Empty where the rate is 0.
  [[nodiscard]] std::vector<at::Tensor> dropout(const Key& key, std::int64_t rows, double rate,
                                                const at::TensorOptions& options) const;

 private:
  [[nodiscard]] std::string bias(std::size_t layer) const;
  [[nodiscard]] std::string to_output(std::size_t layer) const;
  [[nodiscard]] bool feeds_output(std::size_t layer) const { return form_.skips || layer + 1 == hidden_.size(); }
  [[nodiscard]] bool squares(std::size_t layer) const { return form_.squares && layer + 1 == hidden_.size(); }

  std::string prefix_;
  std::int64_t inputs_;
  std::vector<std::int64_t> hidden_;
  std::int64_t outputs_;
  double output_spread_;
  SkipNetForm form_;
};

}  // namespace harmonium
