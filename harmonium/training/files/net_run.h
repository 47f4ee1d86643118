// Runs that train a feed-forward net by gradient descent: --model mlp and --model autoencoder.
//
// What a run is — folder, checkpoints, metrics, resuming — is as in run.h; here is what is different for nets. A net
// begins with random weights, or with those of a trained model that config.start names: then start.safetensors in the
// run folder is the net before its first update, so that a run can be taken up without the model it came from.
#pragma once

#include "harmonium/models/unrolling.h"
#include "harmonium/training/files/net_file.h"
#include "harmonium/training/files/run.h"

namespace harmonium {

[[nodiscard]] bool trains_net(const RunConfig& config);
// Fails naming the first option that only nets have and that was given.
void require_no_net_options(const RunConfig& config);

// Replaces every "auto" that nets have; reads the model that is started from, unless its layers are known already.
void resolve_net(RunConfig& config);
void check_net_config(const RunConfig& config, const RunData& data);
[[nodiscard]] double net_products_per_update(const RunConfig& config);

// The machines of a trained model, from the bottom up.
[[nodiscard]] MachineStack read_stack(const std::filesystem::path& path);

// Before the first update.
[[nodiscard]] NetModel initial_net(const RunConfig& config, const RunData& data);

[[nodiscard]] RunResult run_net_training(const std::filesystem::path& folder, const RunConfig& config,
                                         const ConfigText& config_text, const RunData& data, const RunHooks& hooks);

}  // namespace harmonium
