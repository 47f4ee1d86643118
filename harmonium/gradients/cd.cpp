#include "harmonium/gradients/cd.h"

#include "harmonium/samplers/gibbs.h"

namespace harmonium {

void Cd::begin(const BoltzmannMachine& machine, const State& data, const Key& key) {
  particles_ = data;  // layers are replaced, not written to, so the batch itself is safe
  sample_layers(machine, particles_, key.fold_in(0), machine.hidden());
}

Moments Cd::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  begin(machine, data, key);
  return walk_and_average(machine, particles_, key.fold_in(1), options_.sweeps_at(fraction_));
}

void Cd::subtract_model_moments(Moments& gradient, const BoltzmannMachine& machine, const State& data, const Key& key) {
  begin(machine, data, key);
  walk_and_add_(gradient, -1, machine, particles_, key.fold_in(1), options_.sweeps_at(fraction_));
}

}  // namespace harmonium
