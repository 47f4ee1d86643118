// Training a sigmoid belief net by stochastic expectation maximization (Neal 1992; inference/latent_gibbs.h): latents
// of every training row are kept and redrawn by Gibbs sampling at each visit, p climbs log p(x, h) (the delta rule),
// and q climbs log q(h | x) at the same draws. No bound is climbed through q: it only has to tell, in the end, how
// likely rows are.
#pragma once

#include <memory>

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

// Gibbs sweeps at each visit of a row where the objective is "em:S" or "em" (one); 0 for other objectives.
[[nodiscard]] std::int64_t em_sweeps(const std::string& objective);

// The configuration is resolved.
[[nodiscard]] std::unique_ptr<Objective> em_objective(const RunConfig& config, const RunData& data,
                                                      const SigmoidBeliefNet& net);

}  // namespace harmonium
