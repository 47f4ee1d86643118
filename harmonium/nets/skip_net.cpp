#include "harmonium/nets/skip_net.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

SkipNet::SkipNet(std::string prefix, std::int64_t inputs, std::vector<std::int64_t> hidden, std::int64_t outputs,
                 double output_spread, SkipNetForm form)
    : prefix_(std::move(prefix)),
      inputs_(inputs),
      hidden_(std::move(hidden)),
      outputs_(outputs),
      output_spread_(output_spread),
      form_(form) {
  require(inputs_ >= 1 && outputs_ >= 1 && !hidden_.empty(),
          "the net '{}' needs inputs, a hidden layer or several, and outputs", prefix_);
  for (const std::int64_t width : hidden_)
    require(width >= 1, "a hidden layer of the net '{}' has {} units; every layer needs at least one", prefix_, width);
}

std::string SkipNet::weights(std::size_t layer) const { return format("{}hidden{}.weights", prefix_, layer + 1); }
std::string SkipNet::bias(std::size_t layer) const { return format("{}hidden{}.bias", prefix_, layer + 1); }
std::string SkipNet::to_output(std::size_t layer) const { return format("{}from{}.weights", prefix_, layer + 1); }

void SkipNet::declare(Moments& parameters, at::ScalarType type) const {
  std::int64_t below = inputs_;
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
    parameters.insert(weights(layer), at::zeros({below, hidden_[layer]}, type));
    parameters.insert(bias(layer), at::zeros({hidden_[layer]}, type));
    if (feeds_output(layer)) parameters.insert(to_output(layer), at::zeros({hidden_[layer], outputs_}, type));
    below = hidden_[layer];
  }
  parameters.insert(output_bias(), at::zeros({outputs_}, type));
}

void SkipNet::initialize(Moments& parameters, const Key& key) const {
  std::int64_t feeding = 0;
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer) feeding += feeds_output(layer) ? hidden_[layer] : 0;
  const auto draw = [&](const std::string& name, std::uint64_t stream, double variance) {
    at::Tensor& values = parameters[name];
    values.copy_(normal(key.fold_in(stream), values.sizes(), values.options()).mul_(std::sqrt(variance)));
  };
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
    // Logistic values about ½ vary little, so logistic layers above others get weights twice as large.
    const bool between = layer > 0 && !squares(layer);
    const auto below = static_cast<double>(parameters[weights(layer)].size(0));
    draw(weights(layer), 2 * layer, (between ? 4 : 1) / below);
    if (feeds_output(layer)) draw(to_output(layer), 2 * layer + 1, output_spread_ / static_cast<double>(feeding));
    parameters[bias(layer)].zero_();
  }
  parameters[output_bias()].zero_();
}

at::Tensor SkipNet::forward(const Moments& parameters, const at::Tensor& input) const {
  return forward(parameters, input, {});
}

at::Tensor SkipNet::forward(const Moments& parameters, const at::Tensor& input,
                            const std::vector<at::Tensor>& masks) const {
  require(input.dim() == 2 && input.size(1) == inputs_, "the net '{}' takes rows of {} values, not of {}", prefix_,
          inputs_, input.dim() == 2 ? input.size(1) : -1);
  require(masks.empty() || masks.size() == hidden_.size(), "the net '{}' has {} hidden layers to mask, not {}", prefix_,
          hidden_.size(), masks.size());
  at::Tensor values = input, output = parameters[output_bias()];
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
    const at::Tensor total = at::addmm(parameters[bias(layer)], values, parameters[weights(layer)]);
    values = squares(layer) ? total.square() : total.sigmoid();
    if (!masks.empty()) values = values * masks[layer];
    if (feeds_output(layer)) output = at::addmm(output, values, parameters[to_output(layer)]);
  }
  return output;
}

std::vector<at::Tensor> SkipNet::dropout(const Key& key, std::int64_t rows, double rate,
                                         const at::TensorOptions& options) const {
  require(rate >= 0 && rate < 1, "a dropout rate is at least 0 and below 1, and {} was asked for", rate);
  std::vector<at::Tensor> masks;
  if (rate == 0) return masks;
  for (std::size_t layer = 0; layer < hidden_.size(); ++layer)
    masks.push_back(
        sample_bernoulli(key.fold_in(layer), at::full({rows, hidden_[layer]}, 1 - rate, options)).div_(1 - rate));
  return masks;
}

}  // namespace harmonium
