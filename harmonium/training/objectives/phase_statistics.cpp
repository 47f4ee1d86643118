#include "harmonium/training/objectives/phase_statistics.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/geometry/pair_statistics.h"
#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/training/enumerated_statistics.h"

namespace harmonium {

namespace {

bool enumerates(const BoltzmannMachine& machine, const NegativePhase& phase, const Optimizer& optimizer) {
  if (optimizer.wants_enumeration()) return true;
  return optimizer.wants_statistics() && !phase.has_particles() && !PairStatistics::serves(machine.topology());
}

}  // namespace

void require_statistics(const BoltzmannMachine& machine, const NegativePhase& phase, const Optimizer& optimizer) {
  try {
    if (enumerates(machine, phase, optimizer)) require_enumerable(machine);
  } catch (const Error& error) {
    fail(
        "@optimizer {} needs chains, @gradient {} has none, and the model is too large to enumerate: "
        "{}. Use @optimizer centering, or @gradient pcd",
        optimizer.name(), phase.name(), error.marked());
  }
}

std::shared_ptr<const ModelStatistics> phase_statistics(const BoltzmannMachine& machine, const NegativePhase& phase,
                                                        const Optimizer& optimizer, const Moments& model) {
  const State& particles = phase.particles();
  if (!enumerates(machine, phase, optimizer) && particles.layers.empty() && PairStatistics::serves(machine.topology()))
    return std::make_shared<PairStatistics>(machine.topology(), model);
  if (optimizer.wants_enumeration() || particles.layers.empty()) return std::make_shared<EnumeratedStatistics>(machine);
  // The widest block stands by its expectation, so that most of the noise goes.
  const auto width = [&](const LayerSet& block) {
    std::int64_t total = 0;
    for (const std::size_t layer : block) total += machine.unit(layer).width();
    return total;
  };
  const LayerSet block = machine.without_inner_edges(*std::ranges::max_element(machine.blocks(), {}, width));
  // Tensors of the state are replaced by the next update and never written to, so this may be kept.
  return std::make_shared<ParticleStatistics>(
      machine.topology(), machine.parameters(),
      ParticleSource{.drawn = [machine, particles] { return machine.particles(particles); },
                     .expected = [machine, particles, block] { return machine.particles(particles, block); }});
}

}  // namespace harmonium
