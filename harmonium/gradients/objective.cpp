#include "harmonium/gradients/objective.h"

#include <algorithm>

#include "harmonium/core/named_table.h"
#include "harmonium/gradients/discriminative.h"
#include "harmonium/gradients/hybrid.h"

namespace harmonium {

bool ObjectiveType::has(const std::string& option) const {
  return std::ranges::find(own_options, option) != own_options.end();
}

const std::vector<ObjectiveType>& objectives() {
  using Phase = std::unique_ptr<NegativePhase>;
  static const std::vector<ObjectiveType> types = {
      {.name = "generative", .help = "log p(data, label)", .make = [](Phase phase, double) { return phase; }},
      {.name = "discriminative",
       .help = "log p(label | data)",
       .make = [](Phase, double) -> Phase { return std::make_unique<Discriminative>(); }},
      {.name = "hybrid",
       .help = "the second plus @generative_weight times the first",
       .make = [](Phase phase, double weight) -> Phase { return std::make_unique<Hybrid>(std::move(phase), weight); },
       .own_options = {"generative_weight"}},
  };
  return types;
}

std::unique_ptr<NegativePhase> make_objective(const std::string& name, std::unique_ptr<NegativePhase> phase,
                                              double generative_weight) {
  return find_named(objectives(), name, "objective").make(std::move(phase), generative_weight);
}

}  // namespace harmonium
