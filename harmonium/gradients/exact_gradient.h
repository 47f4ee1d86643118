// The model's moments by enumeration of its smaller side: no noise, no bias, at most 25 binary units.
#pragma once

#include "harmonium/gradients/negative_phase.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

// E_model[g] in float64. Cost: (states of the smaller side) × (products with the weights), twice.
[[nodiscard]] Moments exact_moments(const BoltzmannMachine& machine, int max_bits = enumeration_bits);

class ExactGradient final : public NegativePhase {
 public:
  [[nodiscard]] std::string name() const override { return "exact"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override;
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return none_; }
  [[nodiscard]] bool has_particles() const override { return false; }

 private:
  State none_;
};

}  // namespace harmonium
