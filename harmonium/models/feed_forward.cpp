#include "harmonium/models/feed_forward.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

std::string weights_name(std::size_t layer) { return format("layer{}.weights", layer + 1); }
std::string bias_name(std::size_t layer) { return format("layer{}.bias", layer + 1); }

}  // namespace

std::string to_string(InputForm form) { return form == InputForm::shares ? "shares" : "as_given"; }

InputForm parse_input_form(const std::string& name) {
  for (const InputForm form : {InputForm::as_given, InputForm::shares})
    if (to_string(form) == name) return form;
  fail("unknown form of a net's input '{}'; there are: as_given, shares", name);
}

FeedForward::FeedForward(std::vector<DenseLayer> layers, std::optional<std::size_t> code, at::ScalarType type)
    : layers_(std::move(layers)), code_(code) {
  require(!layers_.empty(), "a feed-forward net needs at least one layer");
  require(!code_ || *code_ + 1 < layers_.size(), "a net of {} layers has no layer after that of the code ({})",
          layers_.size(), code_.value_or(0) + 1);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const DenseLayer& layer = layers_[i];
    require(layer.inputs >= 1 && layer.outputs >= 1, "layer {} of a feed-forward net maps {} values to {}", i + 1,
            layer.inputs, layer.outputs);
    if (i > 0)
      require(layer.inputs == layers_[i - 1].outputs,
              "layer {} of a feed-forward net takes {} values, and layer {} gives {}", i + 1, layer.inputs, i,
              layers_[i - 1].outputs);
    parameters_.insert(weights_name(i), at::zeros({layer.inputs, layer.outputs}, type));
    parameters_.insert(bias_name(i), at::zeros({layer.outputs}, type));
  }
}

std::vector<ParameterGroup> FeedForward::groups() const {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    weights.names.push_back(weights_name(i));
    bias.names.push_back(bias_name(i));
  }
  return {weights, bias};
}

const at::Tensor& FeedForward::weights(std::size_t layer) const { return parameters_[weights_name(layer)]; }

const at::Tensor& FeedForward::bias(std::size_t layer) const { return parameters_[bias_name(layer)]; }

FeedForward FeedForward::with_parameters(Moments parameters) const {
  FeedForward other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

FeedForward FeedForward::to(const at::TensorOptions& options) const {
  FeedForward other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

at::Tensor FeedForward::affine(std::size_t layer, const at::Tensor& input) const {
  require(input.dim() == 2 && input.size(1) == layers_[layer].inputs,
          "layer {} of a feed-forward net takes rows of {} values, not {}", layer + 1, layers_[layer].inputs,
          input.dim() == 2 ? input.size(1) : -1);
  return at::addmm(bias(layer), input, weights(layer));
}

at::Tensor FeedForward::formed(const at::Tensor& input) const {
  if (input_form_ == InputForm::as_given) return input;
  const at::Tensor total = input.sum(1, /*keepdim=*/true);
  return input / at::where(total.eq(0), at::ones_like(total), total);  // a row without words stays as it is
}

at::Tensor FeedForward::total_input(const at::Tensor& input, std::size_t last, const Disturbance& disturb) const {
  at::Tensor values = formed(input);
  for (std::size_t i = 0;; ++i) {
    const at::Tensor total = affine(i, disturb ? disturb(i, values) : values);
    if (i == last) return total;
    values = activate(layers_[i].activation, total);
  }
}

std::vector<at::Tensor> FeedForward::activations(const at::Tensor& input) const {
  std::vector<at::Tensor> all;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    all.push_back(activate(layers_[i].activation, affine(i, i == 0 ? formed(input) : all.back())));
  return all;
}

at::Tensor FeedForward::logits(const at::Tensor& input, const Disturbance& disturb) const {
  return total_input(input, layers_.size() - 1, disturb);
}

at::Tensor FeedForward::forward(const at::Tensor& input) const {
  return activate(layers_.back().activation, logits(input));
}

at::Tensor FeedForward::encode(const at::Tensor& input) const {
  require(code_ || layers_.size() > 1, "a net of one layer has no hidden values to give as a code");
  const std::size_t layer = code_.value_or(layers_.size() - 2);
  return activate(layers_[layer].activation, total_input(input, layer, {}));
}

void initialize(FeedForward& net, const Key& key) {
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    const DenseLayer& layer = net.layers()[i];
    const bool rectified = i > 0 && net.layers()[i - 1].activation == Activation::relu;
    const double variance = 2.0 / static_cast<double>(rectified ? layer.inputs : layer.inputs + layer.outputs);
    at::Tensor weights = net.weights(i);
    weights.copy_(normal(key.fold_in(i), weights.sizes(), weights.options()).mul_(std::sqrt(variance)));
    at::Tensor(net.bias(i)).zero_();
  }
}

FeedForward make_classifier(std::int64_t inputs, const std::vector<std::int64_t>& widths, std::int64_t classes,
                            Activation hidden, at::ScalarType type) {
  std::vector<DenseLayer> layers;
  for (const std::int64_t width : widths) {
    layers.push_back({.inputs = inputs, .outputs = width, .activation = hidden});
    inputs = width;
  }
  layers.push_back({.inputs = inputs, .outputs = classes, .activation = Activation::softmax});
  return FeedForward(std::move(layers), std::nullopt, type);
}

FeedForward make_autoencoder(std::int64_t inputs, const std::vector<std::int64_t>& widths, Activation hidden,
                             Activation output, Activation code_activation, at::ScalarType type) {
  require(!widths.empty(), "an autoencoder needs at least one layer, its code");
  std::vector<DenseLayer> layers;
  std::int64_t below = inputs;
  for (const std::int64_t width : widths) {
    layers.push_back({.inputs = below, .outputs = width, .activation = hidden});
    below = width;
  }
  const std::size_t code = layers.size() - 1;
  layers[code].activation = code_activation;
  for (std::size_t i = widths.size(); i-- > 0;)
    layers.push_back(
        {.inputs = widths[i], .outputs = i == 0 ? inputs : widths[i - 1], .activation = i == 0 ? output : hidden});
  return FeedForward(std::move(layers), code, type);
}

}  // namespace harmonium
