// The families dbn and classification_dbn: greedy training of a stack of RBMs (models/belief_net.h), and up–down.
//
// Greedy: stage l is an ordinary run in layer-l, an RBM on the data as the machines below see them; the label of a
// classification_dbn stands beside the visible units of its top machine. With a start (a trained stack) or a
// pretraining (a greedy run of its own in the folder pretraining) the whole net is then trained by up–down
// (gradients/wake_sleep.h).
#pragma once

#include "harmonium/families/family.h"
#include "harmonium/models/belief_net.h"

namespace harmonium {

// The configuration of the machine of stage `stage` (from 0), resolved.
[[nodiscard]] RunConfig stage_config(const RunConfig& config, std::size_t stage);
[[nodiscard]] std::size_t count_stages(const RunConfig& config);
// The stack's hidden layers from the bottom up, as the option layers has them.
[[nodiscard]] std::string layers_text(const MachineStack& stack);

// Options by which an RBM learns what is worth starting from in few updates.
void learn_layers_soon(RunConfig& config);

}  // namespace harmonium
