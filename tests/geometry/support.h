// Statistics to fit metrics to, and numbers to solve for.
#pragma once

#include <memory>

#include "harmonium/geometry/dense_statistics.h"
#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/models/exact_fisher.h"
#include "harmonium/samplers/gibbs.h"
#include "tests/support/machines.h"

namespace harmonium {

inline Moments random_like(const Moments& shape, std::uint64_t seed) {
  Moments result = shape.zeros_like();
  for (std::uint64_t i = 0; const auto& [name, value] : result.entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble));
  return result;
}

inline std::vector<support::MachineCase> metric_machines() {
  std::vector<support::MachineCase> all = support::all_machines();
  // A layer with three neighbours, so that contributions of several edges meet.
  all.push_back({"Star", [] {
                   const auto unit = make_unit("bernoulli:2");
                   return support::randomized(
                       BoltzmannMachine({{"a", unit, true}, {"b", unit, true}, {"c", unit, true}, {"hub", unit}},
                                        {{"a", "hub"}, {"hub", "b"}, {"c", "hub"}}, at::kDouble),
                       51);
                 }});
  return all;
}

inline std::shared_ptr<const DenseStatistics> enumerated(const BoltzmannMachine& machine) {
  const ExactFisher fisher = exact_fisher(machine);
  return std::make_shared<DenseStatistics>(machine.topology(), fisher.mean, fisher.covariance);
}

// Rows after some Gibbs sweeps; block `expected` by its expectation.
inline std::shared_ptr<const ParticleStatistics> particles_of(const BoltzmannMachine& machine, std::int64_t rows,
                                                              std::uint64_t seed, std::size_t expected = 0) {
  State state = machine.independent_sample(Key(seed), rows);
  gibbs(machine, state, Key(seed).fold_in(1), 5);
  const LayerSet block = machine.blocks()[expected];
  return std::make_shared<ParticleStatistics>(
      machine.topology(), machine.parameters(),
      ParticleSource{.drawn = [machine, state] { return machine.particles(state); },
                     .expected = [machine, state, block] { return machine.particles(state, block); }});
}

}  // namespace harmonium
