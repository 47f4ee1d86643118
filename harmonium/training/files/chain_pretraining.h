// Greedy pretraining of a deep machine: an RBM for each hidden layer, one upon the other (models/pretrained_chain.h).
//
// Every RBM is a run of its own in folder/pretraining/layer-1, layer-2, …, so that stopping and going on work as for
// any run. The first learns the data; each next one learns what the hidden units of the one before say of them, drawn
// afresh from their probabilities at every update.
#pragma once

#include <optional>

#include "harmonium/training/files/run.h"

namespace harmonium {

struct PretrainedMachine {
  BoltzmannMachine machine;
  double seconds = 0;  // of training, all RBMs together
};

// Nothing where it was asked to stop on the way. `config` is that of the deep machine.
[[nodiscard]] std::optional<PretrainedMachine> pretrain_chain(const std::filesystem::path& folder,
                                                              const RunConfig& config, const RunData& data,
                                                              const RunHooks& hooks);

}  // namespace harmonium
