// A gated recurrent unit (Cho, van Merriënboer, Gulcehre, Bahdanau, Bougares, Schwenk & Bengio 2014), one step at a
// time over named parameters, with the reset gate after the product as in Chung, Gulcehre, Cho & Bengio (2014) and in
// cuDNN, so that a step is two products:
//
//   (u, g, a) = input W + b,   (u', g', a') = h V,
//   z = σ(u + u'),   h ← z h + (1 − z) tanh(a + σ(g + g') a').
//
// W is inputs × 3·units, V units × 3·units. Parameters are PREFIX + "input_weights" (W), "state_weights" (V), "bias"
// and "start", the learned h before the first step. Initial weights are uniform in ±√(6/(inputs + 2·units)), as of one
// gate; all else is zero.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class GruCell {
 public:
  GruCell(std::string prefix, std::int64_t inputs, std::int64_t units);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t units() const { return units_; }
  // Puts its parameters, all zero, among others.
  void declare(Moments& parameters, at::ScalarType type) const;
  // Draws its own parameters afresh, in place.
  void initialize(Moments& parameters, const Key& key) const;
  // h before the first step of so many rows, rows × units.
  [[nodiscard]] at::Tensor begin(const Moments& parameters, std::int64_t rows) const;
  // `input`: rows × inputs, `before`: rows × units.
  [[nodiscard]] at::Tensor step(const Moments& parameters, const at::Tensor& input, const at::Tensor& before) const;

 private:
  std::string prefix_;
  std::int64_t inputs_, units_;
};

}  // namespace harmonium
