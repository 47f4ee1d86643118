#include "harmonium/gradients/pt_gradient.h"

namespace harmonium {

PtGradient::PtGradient(const NegativePhaseOptions& options)
    : options_(options), chains_(linear_ladder(options.rungs), options.particles) {}

Moments PtGradient::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  base_.observe(machine, data);
  const TemperedLine line(machine, base_.parameters(machine));
  chains_.step(line, key.fold_in(0), options_.sweeps);
  Fields fields;
  particles_ = chains_.target_state(line, key.fold_in(1), &fields);
  return machine.moments(particles_, fields);
}

NamedTensors PtGradient::state() const {
  NamedTensors tensors = chains_.state();
  for (const auto& one : base_.state()) tensors.push_back(one);
  return tensors;
}

void PtGradient::restore(const NamedTensors& tensors) {
  particles_ = {};
  chains_ = ParallelTempering(linear_ladder(options_.rungs), options_.particles);
  chains_.restore(tensors);
  base_.restore(tensors);
}

}  // namespace harmonium
