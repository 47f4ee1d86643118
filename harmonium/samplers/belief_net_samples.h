// Draws from a deep belief net: Gibbs sampling in its top machine, and a look down at the data's units now and then.
#pragma once

#include <optional>

#include "harmonium/models/belief_net.h"

namespace harmonium {

struct BeliefNetSamples {
  at::Tensor means;    // E[v | h_1], rows × visible units
  at::Tensor visible;  // a draw given the same h_1
};

// Chains of the top machine. The first look down comes after `sweeps` Gibbs sweeps, others after `every` more each; a
// look draws every layer below anew and leaves the chains alone.
struct BeliefNetWalk {
  std::int64_t chains = 1, looks = 1;
  std::int64_t sweeps = 1000, every = 1;
  bool from_noise = false;  // states begin as fair coins; else each unit as its bias says
  at::Tensor labels = {};   // the class held in each chain (int64); undefined: none is held
};
// chains · looks rows, those of a chain one after the other.
[[nodiscard]] BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const BeliefNetWalk& walk);

// `sweeps` Gibbs sweeps of `count` chains of the top machine, which start from its biases: draws are as good as those
// chains are mixed. With `label`, that class is held in the top machine, which must have a label layer.
[[nodiscard]] BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, std::int64_t count,
                                                 std::int64_t sweeps, std::optional<std::int64_t> label = std::nullopt);
// The same with a class of its own for every chain: `labels` are as many numbers.
[[nodiscard]] BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const at::Tensor& labels,
                                                 std::int64_t sweeps);

}  // namespace harmonium
