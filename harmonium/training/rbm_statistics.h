// What FANG asks about chains of a binary RBM on a device, in one product of all units with all units: a few large
// operations in place of many small ones, each of which would be a launch. Everything else is as particles say.
#pragma once

#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class RbmStatistics final : public ParticleStatistics {
 public:
  RbmStatistics(const BoltzmannMachine& machine, const State& particles, ParticleSource source);

  [[nodiscard]] at::Tensor unary_mean() const override { return mean_; }
  [[nodiscard]] at::Tensor unary_second_moment() const override;

 private:
  at::Tensor units_, mean_;  // rows × (visible means, hidden draws)
};

}  // namespace harmonium
