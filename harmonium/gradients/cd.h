// Contrastive divergence, CD-k (Hinton 2002): chains start at the batch and run k Gibbs sweeps.
//
// Biased towards the data: the chains are far from equilibrium. The final hidden expectations p(h|v⁻) are used in place
// of samples, which removes variance and no bias is added. Cost: 2k + 1 products per row.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class Cd final : public NegativePhase {
 public:
  explicit Cd(const NegativePhaseOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "cd"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    return complaint_about_joined_layers(machine);
  }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  void subtract_model_moments(Moments& gradient, const BoltzmannMachine& machine, const State& data,
                              const Key& key) override;
  [[nodiscard]] bool paired_with_batch() const override { return true; }
  [[nodiscard]] const State& particles() const override { return particles_; }
  void at_fraction(double done) override { fraction_ = done; }

 private:
  void begin(const BoltzmannMachine& machine, const State& data, const Key& key);

  NegativePhaseOptions options_;
  double fraction_ = 0;
  State particles_;
};

}  // namespace harmonium
