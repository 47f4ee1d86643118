// Fast persistent contrastive divergence (Tieleman & Hinton 2009): PCD whose chains run under weights of their own.
//
//   particles move under θ + θ_fast ;   θ_fast ← λ θ_fast + ε_fast (s_data − s_model)
//
// The overlay learns at a constant, large rate and is forgotten at once (λ = 19/20). Where the chains sit, it raises
// the energy, so they leave: they mix far beyond what Gibbs sampling of the slowly learnt model alone would. The
// negative statistics, hidden expectations included, are those of the overlaid machine. With ε_fast = 0 it is PCD, bit
// by bit.
#pragma once

#include "harmonium/gradients/pcd.h"

namespace harmonium {

class Fpcd final : public NegativePhase {
 public:
  explicit Fpcd(const NegativePhaseOptions& options) : pcd_(options), options_(options) {}
  [[nodiscard]] std::string name() const override { return "fpcd"; }
  [[nodiscard]] std::string complaint(const BoltzmannMachine& machine) const override {
    return pcd_.complaint(machine);
  }
  [[nodiscard]] bool takes_chains() const override { return true; }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return pcd_.particles(); }
  void at_fraction(double done) override { pcd_.at_fraction(done); }
  void observe_gradient(const Moments& gradient) override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

  [[nodiscard]] const Moments& overlay() const { return overlay_; }  // θ_fast; empty before the first update

 private:
  Pcd pcd_;
  NegativePhaseOptions options_;
  Moments overlay_;
};

}  // namespace harmonium
