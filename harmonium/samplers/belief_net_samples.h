// Draws from a deep belief net: Gibbs sampling in its top machine, then once down.
#pragma once

#include <optional>

#include "harmonium/models/belief_net.h"

namespace harmonium {

struct BeliefNetSamples {
  at::Tensor means;    // E[v | h_1], rows × visible units
  at::Tensor visible;  // a draw given the same h_1
};

// `sweeps` Gibbs sweeps of `count` chains of the top machine, which start from its biases: draws are as good as those
// chains are mixed. With `label`, that class is held in the top machine, which must have a label layer.
[[nodiscard]] BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, std::int64_t count,
                                                 std::int64_t sweeps, std::optional<std::int64_t> label = std::nullopt);
// The same with a class of its own for every chain: `labels` are as many numbers.
[[nodiscard]] BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const at::Tensor& labels,
                                                 std::int64_t sweeps);

}  // namespace harmonium
