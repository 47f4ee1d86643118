// What training maximizes, as the negative phase that gives its gradient.
#pragma once

#include "harmonium/gradients/negative_phase.h"

namespace harmonium {

struct ObjectiveType {
  std::string name, help;
  std::function<std::unique_ptr<NegativePhase>(std::unique_ptr<NegativePhase> phase, double generative_weight)> make;
  std::vector<std::string> own_options = {};  // of a run, that not all of them have
  [[nodiscard]] bool has(const std::string& option) const;
};

// All there are: make_objective(), help texts and messages read this table.
[[nodiscard]] const std::vector<ObjectiveType>& objectives();

// "generative": log p(v) or log p(v, y), and `phase` itself. "discriminative": log p(y | v), where `phase` has no part.
// "hybrid": log p(y | v) + generative_weight · log p(v, y), the second by `phase`.
[[nodiscard]] std::unique_ptr<NegativePhase> make_objective(const std::string& name,
                                                            std::unique_ptr<NegativePhase> phase,
                                                            double generative_weight);

}  // namespace harmonium
