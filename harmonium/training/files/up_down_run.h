// Runs that train a whole belief net on by up–down (training/objectives/wake_sleep.h): --model dbn or
// classification_dbn with --start (a trained stack; `harmonium finetune --to generative`) or with --pretrain rbm (its
// layers are learnt first, in the sub-folder pretraining, which is a run of a stack by itself).
//
// start.safetensors in the run folder is the net before its first update, so that a run can be taken up without the
// model it came from.
#pragma once

#include "harmonium/training/files/run.h"

namespace harmonium {

// Whether the configuration is of a stack that is trained on as a whole.
[[nodiscard]] bool tunes_stack(const RunConfig& config);

// Replaces what is left open; reads the model that is started from, unless its layers are known already.
void resolve_up_down(RunConfig& config);
void check_up_down_config(const RunConfig& config, const RunData& data);

// As run_training.
[[nodiscard]] RunResult run_up_down(const std::filesystem::path& folder, const RunConfig& config,
                                    const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
