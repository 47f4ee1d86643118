// Greedy pretraining of a deep machine: an RBM for each hidden layer, one upon the other (models/pretrained_chain.h).
//
// Every RBM is a run of its own in folder/pretraining/layer-1, layer-2, … (stages.h). The first learns the data; each
// next one learns what the hidden units of the one before say of them, drawn afresh from their probabilities at every
// update.
#pragma once

#include "harmonium/training/files/run.h"

namespace harmonium {

// The configuration of stage `stage` (from 0), resolved.
[[nodiscard]] RunConfig chain_stage_config(const RunConfig& config, std::size_t stage);

// Rates of the joint training where none are given. The more hidden units move together, the shorter the steps of fang
// that leave what the RBMs have learnt in place.
[[nodiscard]] Rates joint_rates(const RunConfig& config);

// Trains what is not trained yet and puts the result into `machine`, whose label layer, if it has one, stays as it is.
// `config` is that of the deep machine. `machine` is as it was where that is interrupted.
[[nodiscard]] RunResult pretrain_chain(BoltzmannMachine& machine, const std::filesystem::path& folder,
                                       const RunConfig& config, const ConfigText& config_text, const RunData& data,
                                       const RunHooks& hooks);

// Persistent chains for a machine that knows the data already: from rows of the data, some hundred sweeps on. Chains
// that begin at the biases alone would tell it for its first updates that it is nothing like itself, and it would
// believe them. Empty for gradients whose chains are of another kind.
[[nodiscard]] NamedTensors chains_of_pretrained(const BoltzmannMachine& machine, const RunConfig& config,
                                                const RunData& data);

}  // namespace harmonium
