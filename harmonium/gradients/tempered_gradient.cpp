#include "harmonium/gradients/tempered_gradient.h"

#include "harmonium/samplers/gibbs.h"
#include "harmonium/samplers/tempered_transitions.h"

namespace harmonium {

TemperedGradient::TemperedGradient(const NegativePhaseOptions& options)
    : options_(options), ladder_(linear_ladder(options.rungs)) {}

Moments TemperedGradient::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  base_.observe(machine, data);
  const TemperedLine line(machine, base_.parameters(machine));
  if (particles_.layers.empty()) particles_ = machine.independent_sample(key.fold_in(0), options_.particles);
  machine.require_whole_state(particles_, "saved chains of tempered");
  gibbs(machine, particles_, key.fold_in(1), options_.sweeps);
  Fields fields;
  acceptance_ = tempered_transition(line, ladder_, particles_, key.fold_in(2), &fields).acceptance;
  return machine.moments(particles_, fields);
}

NamedTensors TemperedGradient::state() const {
  NamedTensors tensors;
  for (std::size_t layer = 0; layer < particles_.layers.size(); ++layer)
    tensors.emplace_back(format("particles.{}", layer), particles_.layers[layer]);
  for (const auto& one : base_.state()) tensors.push_back(one);
  return tensors;
}

void TemperedGradient::restore(const NamedTensors& tensors) {
  particles_ = {};
  for (const auto& [name, value] : tensors)
    if (name == format("particles.{}", particles_.layers.size())) particles_.layers.push_back(value.clone());
  base_.restore(tensors);
}

}  // namespace harmonium
