// A net as a function of named parameters: nothing but tensor operations, no state and no parameters of its own.
//
// Several nets share one Moments, each under a prefix ("encoder.", "decoder."), so that step rules, averages and files
// treat them like any other parameters; who wants gradients gives parameters that ask for them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class Net {
 public:
  virtual ~Net() = default;

  [[nodiscard]] virtual std::int64_t inputs() const = 0;
  [[nodiscard]] virtual std::int64_t outputs() const = 0;
  // Puts its parameters, all zero, among others.
  virtual void declare(Moments& parameters, at::ScalarType type) const = 0;
  // Draws its own parameters afresh, in place; others are left alone.
  virtual void initialize(Moments& parameters, const Key& key) const = 0;
  // The bias of the last layer (outputs numbers), which a model may set to what its data look like.
  [[nodiscard]] virtual std::string output_bias() const = 0;
  // … × inputs → … × outputs, for any number of leading dimensions.
  [[nodiscard]] virtual at::Tensor forward(const Moments& parameters, const at::Tensor& input) const = 0;
};

}  // namespace harmonium
