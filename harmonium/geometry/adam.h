// Adam (Kingma & Ba 2015): every parameter steps by its own running average of gradients, in units of their size.
//
//   m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  direction = (m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε),  t counts from 1
//
// t counts all updates: an entry that some gradients lack keeps its averages meanwhile, and its first steps are smaller
// than one.
#pragma once

#include "harmonium/geometry/optimizer.h"

namespace harmonium {

class Adam final : public Optimizer {
 public:
  Adam(std::vector<ParameterGroup> groups, const Moments& shape)
      : groups_(std::move(groups)),
        first_(shape.zeros_like()),
        second_(shape.zeros_like()),
        direction_(shape.zeros_like()) {}

  [[nodiscard]] std::string name() const override { return "adam"; }
  [[nodiscard]] Direction direction(const Moments& gradient, std::int64_t update) override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  std::vector<ParameterGroup> groups_;
  Moments first_, second_, direction_;
};

}  // namespace harmonium
