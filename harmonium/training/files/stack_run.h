// Greedy training of a stack of RBMs (models/belief_net.h): --model dbn, and --model classification_dbn, whose top
// machine has the label beside its visible units.
//
// Stage l is an ordinary run in the sub-folder layer-l: an RBM on the data as the machines below see them, hidden means
// given hidden means. Where those are probabilities, every update draws its batch from them, as it does with gray
// values. Stages go on as files/stages.h says; model.safetensors of the run is the whole stack. With --start or
// --pretrain a stack that was trained so is trained on by up–down (files/up_down_run.h).
#pragma once

#include "harmonium/training/files/run.h"

namespace harmonium {

[[nodiscard]] bool trains_stack(const RunConfig& config);

// The stack's hidden layers from the bottom up, as --layers has them.
[[nodiscard]] std::string layers_text(const MachineStack& stack);

// Checks --layers and what cannot be asked of a stack.
void resolve_stack(RunConfig& config);
void check_stack_config(const RunConfig& config, const RunData& data);

// The configuration of stage `stage` (from 0), resolved.
[[nodiscard]] RunConfig stage_config(const RunConfig& config, std::size_t stage);
[[nodiscard]] std::size_t count_stages(const RunConfig& config);

// Data as the machine's hidden units see them: their means, in pieces.
[[nodiscard]] RunData encode_data(const BoltzmannMachine& machine, const RunData& data);

// As run_training. Updates are counted over all stages.
[[nodiscard]] RunResult run_stack_training(const std::filesystem::path& folder, const RunConfig& config,
                                           const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
