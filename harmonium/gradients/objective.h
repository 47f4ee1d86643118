// What training maximizes, as the negative phase that gives its gradient.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

// Names that make_objective() knows, with a line for a help text.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& objectives();

// "generative": log p(v) or log p(v, y), and `phase` itself. "discriminative": log p(y | v), where `phase` has no part.
// "hybrid": log p(y | v) + generative_weight · log p(v, y), the second by `phase`.
[[nodiscard]] std::unique_ptr<NegativePhase> make_objective(const std::string& name,
                                                            std::unique_ptr<NegativePhase> phase,
                                                            double generative_weight);

}  // namespace harmonium
