#include "harmonium/gradients/objective.h"

#include "harmonium/core/error.h"
#include "harmonium/gradients/discriminative.h"
#include "harmonium/gradients/hybrid.h"

namespace harmonium {

const std::vector<std::pair<std::string, std::string>>& objectives() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"generative", "log p of all that is observed"},
      {"discriminative", "log p(label | the rest), for a model with a label"},
      {"hybrid", "log p(label | the rest) plus a little of the first"},
  };
  return names;
}

std::unique_ptr<NegativePhase> make_objective(const std::string& name, std::unique_ptr<NegativePhase> phase,
                                              double generative_weight) {
  if (name == "generative") return phase;
  if (name == "discriminative") return std::make_unique<Discriminative>();
  if (name == "hybrid") return std::make_unique<Hybrid>(std::move(phase), generative_weight);
  std::string known;
  for (const auto& [key, help] : objectives()) known += (known.empty() ? "" : ", ") + key;
  fail("unknown objective '{}'; there are: {}", name, known);
}

}  // namespace harmonium
