#include "harmonium/training/objectives/objective.h"

#include "harmonium/core/error.h"

namespace harmonium {

void Objective::begin(const BatchStream&, const Optimizer& optimizer, const StepOptions&) {
  require(!optimizer.wants_observations(), "@optimizer {} is for Boltzmann machines; use adam or sgd",
          optimizer.name());
}

}  // namespace harmonium
