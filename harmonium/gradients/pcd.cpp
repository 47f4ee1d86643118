#include "harmonium/gradients/pcd.h"

#include "harmonium/gradients/mean_steps.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

void Pcd::begin(const BoltzmannMachine& machine, const Key& key) {
  if (particles_.layers.empty()) particles_ = machine.independent_sample(key.fold_in(0), options_.particles);
  machine.require_whole_state(particles_, "saved chains of pcd");
}

const State& Pcd::begun(const BoltzmannMachine& machine, const Key& key) {
  begin(machine, key);
  return particles_;
}

Moments Pcd::model_moments(const BoltzmannMachine& machine, const State&, const Key& key) {
  begin(machine, key);
  if (options_.mean_field_steps > 0) {
    gibbs(machine, particles_, key.fold_in(1), sweeps());
    return moments_after_mean_steps(machine, particles_, options_.mean_field_steps);
  }
  return walk_and_average(machine, particles_, key.fold_in(1), sweeps());
}

void Pcd::subtract_model_moments(Moments& gradient, const BoltzmannMachine& machine, const State& data,
                                 const Key& key) {
  if (options_.mean_field_steps > 0) return NegativePhase::subtract_model_moments(gradient, machine, data, key);
  begin(machine, key);
  walk_and_add_(gradient, -1, machine, particles_, key.fold_in(1), sweeps());
}

NamedTensors Pcd::state() const {
  NamedTensors tensors;
  for (std::size_t layer = 0; layer < particles_.layers.size(); ++layer)
    tensors.emplace_back(format("particles.{}", layer), particles_.layers[layer]);
  return tensors;
}

void Pcd::restore(const NamedTensors& tensors) {
  particles_ = {};
  for (std::size_t layer = 0; layer < tensors.size(); ++layer)
    particles_.layers.push_back(find_tensor(tensors, format("particles.{}", layer), "pcd").clone());
}

std::string Pcd::complaint(const BoltzmannMachine& machine) const {
  if (const std::string lengths = complaint_about_lengths(machine); !lengths.empty()) return lengths;
  if (const std::string imitated = complaint_about_imitations(machine); !imitated.empty()) return imitated;
  const std::string inner = options_.mean_field_steps > 0 ? complaint_about_inner_edges(machine) : "";
  return inner.empty() ? "" : "with @mean_field_steps " + inner;
}

}  // namespace harmonium
