// Contrastive divergence, CD-k (Hinton 2002): chains start at the batch and run k Gibbs sweeps.
//
// Biased towards the data: the chains are far from equilibrium. The final hidden expectations p(h|v⁻) are used in place
// of samples, which removes variance and no bias is added. Cost: 2k + 1 products per row.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

class Cd final : public NegativePhase {
 public:
  explicit Cd(const NegativePhaseOptions& options) : sweeps_(options.sweeps) {}
  [[nodiscard]] std::string name() const override { return "cd"; }
  [[nodiscard]] Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) override;
  [[nodiscard]] const State& particles() const override { return particles_; }

 private:
  std::int64_t sweeps_;
  State particles_;
};

}  // namespace harmonium
