// What FANG asks about chains of a binary RBM on a device, from one product of a table of all units with itself: a few
// large operations in place of many small ones, each of which would be a launch. Everything else is as particles say.
#pragma once

#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class RbmStatistics final : public ParticleStatistics {
 public:
  // Rows of `units`: visible means given the hidden units, hidden units, and a one; what follows is zero. In fp16 on a
  // device, which is far below the noise of the chains; products are added up in fp32 anyway.
  RbmStatistics(const BoltzmannMachine& machine, const at::Tensor& units, ParticleSource source);

  [[nodiscard]] at::Tensor unary_mean() const override { return mean_; }
  [[nodiscard]] at::Tensor unary_second_moment() const override { return second_moment_; }

 private:
  at::Tensor mean_, second_moment_;
};

}  // namespace harmonium
