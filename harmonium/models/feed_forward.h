// A feed-forward net: affine maps with an activation after each.
//
//   x_0 = input,   x_l = f_l(x_{l−1} W_l + b_l),   W_l is inputs × outputs
//
// One layer with a softmax is logistic regression, more are a classifier; an autoencoder is an encoder and a decoder
// with a narrow layer between them, the code. Parameters are "layer1.weights", "layer1.bias", "layer2.weights", … in
// one Moments, so that step rules, averages and files treat them like those of a machine. A forward pass is nothing but
// tensor operations: who wants gradients gives parameters that ask for them (training/loss_gradient.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/core/parameter_group.h"
#include "harmonium/nets/activation.h"

namespace harmonium {

// What becomes of a row before the first layer takes it.
enum class InputForm {
  as_given,
  shares,  // divided by its sum: the numbers of words of a document become their shares
};

[[nodiscard]] std::string to_string(InputForm form);
[[nodiscard]] InputForm parse_input_form(const std::string& name);

struct DenseLayer {
  std::int64_t inputs = 0, outputs = 0;
  Activation activation = Activation::logistic;
};

class FeedForward {
 public:
  // `code` is the place of the layer (from 0) that holds an autoencoder's code. Parameters are zero.
  explicit FeedForward(std::vector<DenseLayer> layers, std::optional<std::size_t> code = std::nullopt,
                       at::ScalarType type = at::kFloat);

  [[nodiscard]] const std::vector<DenseLayer>& layers() const { return layers_; }
  [[nodiscard]] std::int64_t inputs() const { return layers_.front().inputs; }
  [[nodiscard]] std::int64_t outputs() const { return layers_.back().outputs; }
  [[nodiscard]] std::optional<std::size_t> code() const { return code_; }
  [[nodiscard]] InputForm input_form() const { return input_form_; }
  void set_input_form(InputForm form) { input_form_ = form; }
  // The parameters as step rules see them.
  [[nodiscard]] std::vector<ParameterGroup> groups() const;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  [[nodiscard]] const at::Tensor& weights(std::size_t layer) const;
  [[nodiscard]] const at::Tensor& bias(std::size_t layer) const;
  // The same net under other parameters (shared, not copied).
  [[nodiscard]] FeedForward with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] FeedForward to(const at::TensorOptions& options) const;

  // What becomes of a layer's inputs before it takes them: dropout, noise.
  using Disturbance = std::function<at::Tensor(std::size_t layer, const at::Tensor& inputs)>;
  // Values of every layer, rows × outputs.
  [[nodiscard]] std::vector<at::Tensor> activations(const at::Tensor& input) const;
  // Values of the last layer.
  [[nodiscard]] at::Tensor forward(const at::Tensor& input) const;
  // The last layer before its activation: what losses are made of, which lose digits after it.
  [[nodiscard]] at::Tensor logits(const at::Tensor& input, const Disturbance& disturb = {}) const;
  // Values of the code; of a net without one, those of the last hidden layer. Fails where there is neither.
  [[nodiscard]] at::Tensor encode(const at::Tensor& input) const;

 private:
  // Total input of layer `last`.
  [[nodiscard]] at::Tensor total_input(const at::Tensor& input, std::size_t last, const Disturbance& disturb) const;
  [[nodiscard]] at::Tensor affine(std::size_t layer, const at::Tensor& input) const;
  [[nodiscard]] at::Tensor formed(const at::Tensor& input) const;

  InputForm input_form_ = InputForm::as_given;
  std::vector<DenseLayer> layers_;
  std::optional<std::size_t> code_;
  Moments parameters_;
};

// Biases zero, weights of layer l ~ N(0, 2/(inputs + outputs)), after a relu N(0, 2/inputs): variances of values and of
// gradients then stay of one size from layer to layer (Glorot & Bengio 2010, He et al. 2015).
void initialize(FeedForward& net, const Key& key);

// inputs – widths… – outputs, with `hidden` after every layer but the last. Without widths: one layer.
[[nodiscard]] FeedForward make_classifier(std::int64_t inputs, const std::vector<std::int64_t>& widths,
                                          std::int64_t classes, Activation hidden, at::ScalarType type = at::kFloat);
// inputs – widths… – inputs, mirrored at the last of the widths, which is the code.
[[nodiscard]] FeedForward make_autoencoder(std::int64_t inputs, const std::vector<std::int64_t>& widths,
                                           Activation hidden, Activation output, Activation code = Activation::linear,
                                           at::ScalarType type = at::kFloat);

}  // namespace harmonium
