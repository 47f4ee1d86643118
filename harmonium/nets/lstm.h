// A cell with long short-term memory (Hochreiter & Schmidhuber 1997; with forget gates, Gers, Schmidhuber & Cummins
// 2000), one step at a time over named parameters:
//
//   (i, f, o, g) = [input, h] W + b,   c ← σ(f) c + σ(i) tanh(g),   h ← σ(o) tanh(c).
//
// W is (inputs + units) × 4·units. Parameters are PREFIX + "weights", "bias" and "start", the learned h and c before
// the first step side by side. Initial weights are uniform in ±√(6/(inputs + 2·units)), as of one gate (nets/dense.h);
// forget gates have a bias of 1, so that memories last at first (Jozefowicz, Zaremba & Sutskever 2015); all else is
// zero. A step costs one product and has the same shapes every time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

class LstmCell {
 public:
  struct State {
    at::Tensor output, memory;  // h and c, rows × units
  };

  LstmCell(std::string prefix, std::int64_t inputs, std::int64_t units);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t units() const { return units_; }
  // Puts its parameters, all zero, among others.
  void declare(Moments& parameters, at::ScalarType type) const;
  // Draws its own parameters afresh, in place.
  void initialize(Moments& parameters, const Key& key) const;
  // Before the first step of so many rows.
  [[nodiscard]] State begin(const Moments& parameters, std::int64_t rows) const;
  // `input`: rows × inputs.
  [[nodiscard]] State step(const Moments& parameters, const at::Tensor& input, const State& before) const;

 private:
  std::string prefix_;
  std::int64_t inputs_, units_;
};

}  // namespace harmonium
