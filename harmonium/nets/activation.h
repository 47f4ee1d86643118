// What a layer of a net does to its total inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace harmonium {

enum class Activation {
  linear,
  logistic,
  relu,     // max(0, x)
  softmax,  // over all units of the layer
  tanh,
  elu,       // x above zero, e^x − 1 below
  softplus,  // log(1 + e^x)
};

[[nodiscard]] std::string to_string(Activation activation);
[[nodiscard]] Activation parse_activation(const std::string& name);
// `input`: … × units.
[[nodiscard]] at::Tensor activate(Activation activation, const at::Tensor& input);

}  // namespace harmonium
