#include "harmonium/gradients/cd.h"

#include "harmonium/samplers/gibbs.h"

namespace harmonium {

Moments Cd::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  particles_ = data;  // layers are replaced, not written to, so the batch itself is safe
  sample_layers(machine, particles_, key.fold_in(0), machine.hidden());
  return walk_and_average(machine, particles_, key.fold_in(1), options_.sweeps_at(fraction_));
}

}  // namespace harmonium
