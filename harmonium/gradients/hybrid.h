// The gradient of log p(y | v) + α log p(v, y) (Larochelle & Bengio 2008): the classes are learnt for their own sake,
// and a little of the joint model keeps the hidden units from fitting them alone.
//
//   model moments = s_data − [(s_data − s_classes) + α (s_data − s_generative)]
//                 = (s_classes − α s_data) + α s_generative
// s_classes is exact (discriminative.h), s_generative comes from any other negative phase, whose chains and state these
// are. Cost: the sum of both.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class Hybrid final : public NegativePhase {
 public:
  Hybrid(std::unique_ptr<NegativePhase> generative, double generative_weight);
  [[nodiscard]] std::string name() const override { return "hybrid"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    return generative_->complaint(machine);
  }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  void at_fraction(double done) override { generative_->at_fraction(done); }
  // The generative phase is told of its own share alone, s_data − s_generative.
  void observe_gradient(const Moments& gradient) override;
  [[nodiscard]] const State& particles() const override { return generative_->particles(); }
  [[nodiscard]] bool has_particles() const override { return generative_->has_particles(); }
  [[nodiscard]] NamedTensors state() const override { return generative_->state(); }
  void restore(const NamedTensors& tensors) override { generative_->restore(tensors); }

 private:
  std::unique_ptr<NegativePhase> generative_;
  double generative_weight_;
  Moments model_, generative_moments_;  // of the last estimate
};

}  // namespace harmonium
