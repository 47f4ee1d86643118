// The stages of a belief net: greedy training of a stack of RBMs (models/belief_net.h).
//
// Stage l is an ordinary run in layer-l, an RBM on the data as the machines below see them; the label of a
// classification_dbn stands beside the visible units of its top machine. With a start (a trained stack) or a
// pretraining (a greedy run of its own in the folder pretraining) the whole net is then trained by up–down
// (families/up_down_trainee.h).
#pragma once

#include "harmonium/families/family.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

// Hidden layers from the bottom up as unit types.
[[nodiscard]] std::vector<std::string> stage_units(const RunConfig& config);
// The configuration of the machine of stage `stage` (from 0), resolved.
[[nodiscard]] RunConfig stage_config(const RunConfig& config, std::size_t stage);
[[nodiscard]] std::size_t count_stages(const RunConfig& config);
// The stack's hidden layers from the bottom up, as the option layers has them.
[[nodiscard]] std::string layers_text(const MachineStack& stack);

// The configuration of a pretraining: all stages, trained as those of nets are.
[[nodiscard]] RunConfig greedy_config(const RunConfig& config);
// Makes the machine of every stage on a few rows, so that a mistake shows before anything is trained.
void rehearse_stages(const RunConfig& config, const RunData& data);

// Options by which an RBM learns what is worth starting from in few updates.
void learn_layers_soon(RunConfig& config);

}  // namespace harmonium
