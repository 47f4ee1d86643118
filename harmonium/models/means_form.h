// Steps of a machine's real-valued visible units in other coordinates: means and the logarithm of precisions,
//   μ = a/λ,   M = W/λ (row by row),   z = log λ
// in place of biases a, weights W and precisions λ. The gradient there is λ ∂a, λ ∂W and λ ∂λ + a ∂a + Σ_j W_j ∂W_j; a
// step divides the first two by λ, which is the information that one row has of a mean:
//   Δμ = ε ∂a,   ΔM = ε ∂W,   Δz = ε (λ ∂λ + a ∂a + Σ_j W_j ∂W_j).
// So a step in the precisions moves no means, precisions stay positive whatever the step, and a column in other units
// (x → cx) takes the same step in its own units. Without the division narrow columns would move too fast, as wide ones
// do where steps are taken in a, W and λ.
//
// This changes where plain gradients lead; natural gradients do not depend on coordinates. Between precondition_() and
// after_step_() a step is a table of numbers like any other, (λ Δμ, λ ΔM, λ Δz), so rates, momentum and limits apply as
// they are. Cost: a few passes over the weights.
//
// Reference: Melchior, Wang & Wiskott 2017 (means and deviations as parameters).
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class MeansForm {
 public:
  // Empty where the machine has one layer of gaussian data joined to hidden units without precisions; else why not.
  [[nodiscard]] static std::string complaint(const BoltzmannMachine& machine);

  // Turns the gradient into that step (with ε = 1) and notes the precisions that the step begins with.
  void precondition_(Moments& gradient, const BoltzmannMachine& machine);
  // Takes the step that the parameters have made since then as one of (μ, M, z).
  void after_step_(BoltzmannMachine& machine) const;

 private:
  at::Tensor before_;  // λ; no state: it lives within an update
};

}  // namespace harmonium
