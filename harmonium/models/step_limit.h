// How far one step may carry a machine with real-valued units. Their gradients grow with the square of the values, so a
// rate that suits one data set blows up on another, most of all in the first updates, and at columns that hardly vary.
//
// A step is shortened, all of it by one factor, until
//   |Δλ| ≤ λ/10,   |Δa| ≤ √λ/10,   |ΔW_ij| ≤ √(λ_i λ_j)/10   (1 in place of λ where a layer has no precisions)
// so a mean moves by a tenth of its standard deviation at most, and a variance by about a tenth of itself.
//
// Cost: a copy of the parameters and one pass over both.
#pragma once

#include <optional>

#include "harmonium/core/moments.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class StepLimit {
 public:
  static constexpr double share = 0.1;

  // Whether there is anything to do: a layer has precisions.
  [[nodiscard]] static bool acts_on(const BoltzmannMachine& machine);
  void before_step(const BoltzmannMachine& machine);
  // Parameters of a step of allowed length stay as they are, bit by bit. Numbers that are not finite are left to
  // others.
  void after_step_(BoltzmannMachine& machine) const;

 private:
  Moments before_;  // no state: it lives within an update
};

}  // namespace harmonium
