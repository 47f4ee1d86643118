// The loop around whatever a run trains: its folder, metrics, checkpoints, snapshots, clock and how it is stopped.
//
// A run can be stopped at any moment, by request or by force, and taken up again from its newest checkpoint; what is
// trained must be a function of its seed and of its training's state.
#pragma once

#include <string>

#include "harmonium/families/trainee.h"
#include "harmonium/runs/run.h"

namespace harmonium {

// Trains in `folder` from its newest checkpoint, or from the start where there is none, and writes model.safetensors.
// Fails where the checkpoint is of another run than `identity` says. The folder's lock is held by the caller.
[[nodiscard]] RunResult run_loop(const RunFolder& folder, const RunConfig& config, const std::string& config_text,
                                 const RunIdentity& identity, const RunHooks& hooks, Trainee& trainee);

}  // namespace harmonium
