// Particles of a variational recurrent net (models/directed/vrnn.h) for a particle filter: the proposal is q(z_t | x_t,
// r_{t−1}), and what a particle carries is r.
#pragma once

#include "harmonium/likelihood/particle_filter.h"
#include "harmonium/models/directed/vrnn.h"

namespace harmonium {

// log p̂ and its pieces of sequences whose frames are packed; no gradients.
[[nodiscard]] FilteredSequences filter_sequences(const Vrnn& net, const at::Tensor& values,
                                                 const std::vector<std::int64_t>& alive,
                                                 const ParticleFilterOptions& options, const Key& key);
// The same with the latents (frames × latent) that made the sequences held: particle 0.
[[nodiscard]] FilteredSequences filter_own_sequences(const Vrnn& net, const VrnnDream& dream,
                                                     const std::vector<std::int64_t>& alive,
                                                     ParticleFilterOptions options, const Key& key);

}  // namespace harmonium
