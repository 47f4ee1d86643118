// Adam (Kingma & Ba 2015): every parameter steps by its own running average of gradients, in units of their size.
//
//   m ← β₁m + (1−β₁)g,  v ← β₂v + (1−β₂)g²,  direction = (m/(1−β₁ᵗ)) / (√(v/(1−β₂ᵗ)) + ε),  t counts from 1
#pragma once

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"

namespace harmonium {

class Adam {
 public:
  explicit Adam(const Moments& shape)
      : first_(shape.zeros_like()), second_(shape.zeros_like()), direction_(shape.zeros_like()) {}

  // Looks at the gradient of update `update` (from 0) and returns the direction to go, of the gradient's sign; it is
  // good until the next call.
  [[nodiscard]] const Moments& direction(const Moments& gradient, std::int64_t update);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  Moments first_, second_, direction_;
};

}  // namespace harmonium
