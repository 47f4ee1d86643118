// Greedy pretraining of a deep machine: an RBM for each hidden layer, one upon the other (models/pretrained_chain.h).
//
// Every RBM is a run of its own in folder/pretrain/1, 2, …, so that stopping and going on work as for any run. The
// first learns the data; each next one learns what the hidden units of the one before say of them, drawn afresh from
// their probabilities at every update.
#pragma once

#include <optional>

#include "harmonium/training/files/run.h"

namespace harmonium {

struct PretrainedMachine {
  BoltzmannMachine machine;
  double seconds = 0;  // of training, all RBMs together
};

// Nothing where it was asked to stop on the way. `config` is that of the deep machine.
[[nodiscard]] std::optional<PretrainedMachine> pretrain(const std::filesystem::path& folder, const RunConfig& config,
                                                        const RunData& data, const RunHooks& hooks);

// Persistent chains for a machine that knows the data already: from rows of the data, some hundred sweeps on. Chains
// that begin at the biases alone would tell it for its first updates that it is nothing like itself, and it would
// believe them. Empty for gradients whose chains are of another kind.
[[nodiscard]] NamedTensors chains_of_pretrained(const BoltzmannMachine& machine, const RunConfig& config,
                                                const RunData& data);

}  // namespace harmonium
