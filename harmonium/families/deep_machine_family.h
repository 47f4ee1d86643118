// The family dbm: deep Boltzmann machines, alone or after greedy pretraining by RBMs (models/pretrained_chain.h).
//
// Every RBM of a pretraining is a run of its own in pretraining/layer-1, layer-2, …. The first learns the data; each
// next one learns what the hidden units of the one before say of them, drawn afresh from their probabilities at every
// update.
#pragma once

#include "harmonium/families/family.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// The configuration of stage `stage` (from 0) of the pretraining, resolved.
[[nodiscard]] RunConfig chain_stage_config(const RunConfig& config, std::size_t stage);

// Rates of the joint training where none are given. The more hidden units move together, the shorter the steps of fang
// that leave what the RBMs have learnt in place.
[[nodiscard]] Rates joint_rates(const RunConfig& config);

// Persistent chains for a machine that knows the data already: from rows of the data, some hundred sweeps on. Chains
// that begin at the biases alone would tell it for its first updates that it is nothing like itself, and it would
// believe them. Empty for gradients whose chains are of another kind.
[[nodiscard]] NamedTensors chains_of_pretrained(const BoltzmannMachine& machine, const RunConfig& config,
                                                const RunData& data);

}  // namespace harmonium
