// What a metric may ask about a machine under training: answered by the chains of its negative phase, or where there
// are none by the moments that the phase found, if those say enough, or by enumeration.
#pragma once

#include <memory>

#include "harmonium/geometry/optimizer.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Fails, with advice, where the machine would have to be enumerated and is too large.
void require_statistics(const BoltzmannMachine& machine, const NegativePhase& phase, const Optimizer& optimizer);

// `model`: the moments that the phase has just found.
[[nodiscard]] std::shared_ptr<const ModelStatistics> phase_statistics(const BoltzmannMachine& machine,
                                                                      const NegativePhase& phase,
                                                                      const Optimizer& optimizer, const Moments& model);

}  // namespace harmonium
