#include "harmonium/nets/activation.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

const std::vector<std::pair<Activation, std::string>>& activation_names() {
  static const std::vector<std::pair<Activation, std::string>> names = {
      {Activation::linear, "linear"},    {Activation::logistic, "logistic"}, {Activation::relu, "relu"},
      {Activation::softmax, "softmax"},  {Activation::tanh, "tanh"},         {Activation::elu, "elu"},
      {Activation::softplus, "softplus"}};
  return names;
}

}  // namespace

std::string to_string(Activation activation) {
  for (const auto& [value, name] : activation_names())
    if (value == activation) return name;
  throw std::logic_error("an activation without a name");
}

Activation parse_activation(const std::string& name) {
  std::string known;
  for (const auto& [value, each] : activation_names()) {
    if (each == name) return value;
    known += (known.empty() ? "" : ", ") + each;
  }
  fail("unknown activation '{}'; there are: {}", name, known);
}

at::Tensor activate(Activation activation, const at::Tensor& input) {
  switch (activation) {
    case Activation::linear:
      return input;
    case Activation::logistic:
      return input.sigmoid();
    case Activation::relu:
      return input.relu();
    case Activation::softmax:
      return input.softmax(-1);
    case Activation::tanh:
      return input.tanh();
    case Activation::elu:
      return at::elu(input);
    case Activation::softplus:
      return at::softplus(input, /*beta=*/1, /*threshold=*/40);  // beyond, x itself to rounding
  }
  throw std::logic_error("an activation that nobody computes");
}

}  // namespace harmonium
