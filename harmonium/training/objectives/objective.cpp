#include "harmonium/training/objectives/objective.h"

#include "harmonium/core/error.h"

namespace harmonium {

void Objective::begin(const BatchStream&, const Optimizer& optimizer, const StepOptions&) {
  require(!optimizer.wants_observations(),
          "@optimizer {} looks at the states of a Boltzmann machine, and there is none; use adam or sgd",
          optimizer.name());
}

}  // namespace harmonium
