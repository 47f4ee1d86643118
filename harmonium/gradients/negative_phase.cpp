#include "harmonium/gradients/negative_phase.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/gradients/cd.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/fpcd.h"
#include "harmonium/gradients/mean_field_cd.h"
#include "harmonium/gradients/pcd.h"
#include "harmonium/gradients/pseudo_likelihood.h"
#include "harmonium/gradients/pt_gradient.h"
#include "harmonium/gradients/tempered_gradient.h"

namespace harmonium {

std::int64_t NegativePhaseOptions::sweeps_at(double fraction) const {
  if (sweeps_final == 0) return sweeps;
  const double first = static_cast<double>(sweeps), last = static_cast<double>(sweeps_final);
  return std::llround(first * std::pow(last / first, fraction));
}

bool NegativePhaseType::has(const std::string& option) const {
  return std::ranges::find(own_options, option) != own_options.end();
}

namespace {

template <class Type>
std::unique_ptr<NegativePhase> phase_of(const NegativePhaseOptions& options) {
  if constexpr (std::is_constructible_v<Type, const NegativePhaseOptions&>)
    return std::make_unique<Type>(options);
  else
    return std::make_unique<Type>();
}

}  // namespace

const std::vector<NegativePhaseType>& negative_phases() {
  static const std::vector<NegativePhaseType> types = {
      {.name = "pcd",
       .help = "persistent contrastive divergence: chains that are never reset",
       .make = phase_of<Pcd>,
       .own_options = {"mean_field_steps"}},
      {.name = "fpcd",
       .help = "pcd with fast weights that make the chains mix faster",
       .make = phase_of<Fpcd>,
       .own_options = {"mean_field_steps", "fast_rate", "fast_decay"}},
      {.name = "cd", .help = "contrastive divergence: chains that start at the batch (biased)", .make = phase_of<Cd>},
      {.name = "mf_cd",
       .help = "contrastive divergence with means instead of draws (biased)",
       .make = phase_of<MeanFieldCd>},
      {.name = "pl",
       .help = "pseudo-likelihood: each unit given all others (not the likelihood)",
       .make = phase_of<PseudoLikelihood>},
      {.name = "exact",
       .help = "enumeration of the smaller side (at most 25 binary units)",
       .make = phase_of<ExactGradient>},
      {.name = "pt",
       .help = "parallel tempering: persistent chains at many temperatures that exchange their states",
       .make = phase_of<PtGradient>,
       .own_options = {"rungs"}},
      {.name = "tempered",
       .help = "tempered transitions: persistent chains that go to the base rates and back",
       .make = phase_of<TemperedGradient>,
       .own_options = {"rungs"}},
  };
  return types;
}

std::unique_ptr<NegativePhase> make_negative_phase(const std::string& name, const NegativePhaseOptions& options) {
  const NegativePhaseType& type = find_named(negative_phases(), name, "gradient");
  require(options.sweeps >= 1, "the negative phase needs at least one sweep per update, not {}", options.sweeps);
  require(options.particles >= 1, "the negative phase needs at least one particle, not {}", options.particles);
  require(options.sweeps_final >= 0, "the final number of sweeps is 0 (constant) or more, not {}",
          options.sweeps_final);
  require(options.mean_field_steps >= 0, "the number of mean-field steps is 0 (none) or more, not {}",
          options.mean_field_steps);
  require(options.mean_field_steps == 0 || type.has("mean_field_steps"),
          "@mean_field_steps {} does not apply to @gradient {}; it applies to {}", options.mean_field_steps, name,
          names_of(negative_phases(), [](const NegativePhaseType& each) { return each.has("mean_field_steps"); }));
  require(options.fast_rate >= 0, "the fast rate of fpcd is 0 or more, not {}", options.fast_rate);
  require(options.fast_decay >= 0 && options.fast_decay < 1,
          "the decay of fpcd's fast weights must be at least 0 and below 1, not {}", options.fast_decay);
  return type.make(options);
}

std::string negative_phases_for(const BoltzmannMachine& machine) {
  return names_of(negative_phases(),
                  [&](const NegativePhaseType& each) { return each.make({})->complaint(machine).empty(); });
}

std::string complaint_about_lengths(const BoltzmannMachine& machine) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    if (machine.unit(layer).wants_own_state())
      return format("draws rows of its own, and the model does not know how long a document is (layer '{}', {})",
                    machine.layers()[layer].name, machine.unit(layer).spec());
  return {};
}

std::string complaint_about_imitations(const BoltzmannMachine& machine) {
  for (const Layer& layer : machine.layers())
    if (const auto exact = layer.unit->stands_for())
      return format("needs draws that are exact, and those of layer '{}' ({}) only imitate {}", layer.name,
                    layer.unit->spec(), exact->spec());
  return {};
}

std::string complaint_about_joined_layers(const BoltzmannMachine& machine) {
  return machine.hidden_joined()
             ? "needs hidden layers whose means follow from the data alone, and here hidden layers are joined to each "
               "other"
             : "";
}

std::string complaint_about_inner_edges(const BoltzmannMachine& machine) {
  for (const EdgeInfo& edge : machine.topology().edges)
    if (edge.inner())
      return format("moves a whole layer at once, which is wrong with edges inside a layer ({})", edge.weights);
  return {};
}

}  // namespace harmonium
