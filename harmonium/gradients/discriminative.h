// The gradient of log p(label | everything else observed) (Larochelle & Bengio 2008), exact and without chains.
//
//   gradient = E[g | v, y] − Σ_c p(c | v) E[g | v, c]
// with the hidden units by their expectation: data moments minus "model moments" that sum over the classes alone.
// Nothing is learnt about v itself: the gradient of its own parameters is zero. Cost per row: one product with the
// weights for the fields, one for the moments, and (classes × hidden units) evaluations of hidden units.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

// Average over rows of Σ_c w(c) E[g | v, c], where w(c) = p(c | v) − share · y_c and y is the row's own label. With
// share = 0 these are the model moments of the discriminative gradient; with α they are those minus α × data moments.
[[nodiscard]] Moments class_moments(const BoltzmannMachine& machine, const State& data, double share = 0);

class Discriminative final : public NegativePhase {
 public:
  [[nodiscard]] std::string name() const override { return "discriminative"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    return complaint_about_joined_layers(machine);
  }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return none_; }
  [[nodiscard]] bool has_particles() const override { return false; }

 private:
  State none_;
};

}  // namespace harmonium
