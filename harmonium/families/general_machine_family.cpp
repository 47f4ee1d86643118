// The general Boltzmann machine: visible and hidden units, every pair of them joined (L, W and J).
#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/inference_options.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/builders.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

struct GeneralOptions {
  std::string within = "both";
  InferenceOptions inference;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("within", self.within,
            "layers whose units are joined to each other: both; visible (no edges between hidden units: a "
            "semi-restricted machine); hidden (no edges between visible units); none (an RBM)");
    InferenceOptions::visit(self.inference, visitor);
  }
};

GeneralOptions general_options(const RunConfig& config) {
  const GeneralOptions* given = config.own.find<GeneralOptions>();
  return given == nullptr ? GeneralOptions{} : *given;
}

WithinLayers within(const RunConfig& config) {
  const std::string name = general_options(config).within;
  require(name == "both" || name == "visible" || name == "hidden" || name == "none",
          "@within {}: there are both, visible, hidden and none", name);
  return {.visible = name == "both" || name == "visible", .hidden = name == "both" || name == "hidden"};
}

// Units that are joined to each other are redrawn one after another, which needs finitely many states.
void check_joined(const char* option, const std::string& given, const std::string& spec, const std::string& others) {
  check_unit(option, given, spec);
  require(make_unit(spec)->state_count().has_value(),
          "{} {}: units that are joined to each other must be bernoulli or softmax; use those, or {}", option, given,
          others);
}

void resolve_general(RunConfig& config, RunData& data) {
  const GeneralOptions own = general_options(config);
  const WithinLayers inner = within(config);
  check_inference(own.inference);
  require(inner.hidden || own.inference.inference == "mean_field",
          "@inference {} is for hidden units that are joined to each other, and @within {} leaves them independent "
          "given the data; leave @inference out",
          own.inference.inference, own.within);
  require(inner.hidden || own.inference.mean_field_damping == 0,
          "@mean_field_damping is for hidden units that are joined to each other, and @within {} leaves them "
          "independent given the data; leave it out",
          own.within);
  if (inner.visible) check_joined("@visible", config.visible, config.visible, "@within hidden or none");
  if (inner.hidden) check_joined("@hidden", config.hidden, hidden_spec(config.hidden), "@within visible or none");
  // fang looks at chains; enumeration of the Fisher information does not know edges inside a layer.
  if (config.optimizer == "auto" && config.gradient != "auto" &&
      !make_negative_phase(config.gradient, {})->has_particles())
    config.optimizer = "centering";
  // As for a deep machine: covariances between all units from few chains are noise that fang may follow.
  constexpr std::int64_t fewest_chains = 500;
  if (config.particles == 0) config.particles = std::max(config.batch, fewest_chains);
  resolve_machine(config, data);
}

std::unique_ptr<Model> make_general(const RunConfig& config, const RunData& data, const StageModels&) {
  check_unit("@visible", config.visible, config.visible);
  check_unit("@hidden", config.hidden, hidden_spec(config.hidden));
  TrainedMachine model =
      initialized_machine(make_boltzmann(config.visible, hidden_spec(config.hidden), within(config)), config, data);
  note_inference(model, general_options(config).inference);
  return std::make_unique<MachineModel>(std::move(model));
}

std::unique_ptr<Trainee> train_general(const RunConfig& config, const RunData& data, const Model& start) {
  check_machine(start.machine()->machine, config, data);
  return train_machine(config, data, *start.machine(), {}, data_inference(config, general_options(config).inference));
}

ModelSize general_size(const RunConfig& config) {
  const auto visible = static_cast<double>(make_unit(config.visible)->width()),
             hidden = static_cast<double>(make_unit(hidden_spec(config.hidden))->width());
  const WithinLayers inner = within(config);
  return {.weights = visible * hidden + (inner.visible ? visible * visible : 0) + (inner.hidden ? hidden * hidden : 0),
          .units = visible + hidden};
}

}  // namespace

Family boltzmann_family() {
  return {.name = "boltzmann",
          .title = "General Boltzmann machine",
          .help = "general Boltzmann machine: visible and hidden units, every pair of them joined, see within",
          .example = "harmonium train --data digits --model boltzmann --hidden 50 --inference gibbs",
          .options = groups::joined({groups::common(),
                                     groups::tracked(),
                                     groups::contrastive(),
                                     groups::metric(),
                                     groups::sparsity(),
                                     {"hidden", "patience"}}),
          .own = OwnOptions(GeneralOptions{}),
          .resolve = resolve_general,
          .make = make_general,
          .train = train_general,
          .read = read_machine_model,
          .size = general_size,
          .products =
              [](const RunConfig& config) {
                return general_size(config).weights *
                       static_cast<double>(config.batch + config.particles * config.sweeps);
              },
          .words =
              [](const RunConfig& config) {
                return format("{} – {}, joined within {}; {}", config.visible, config.hidden,
                              general_options(config).within, config.gradient);
              }};
}

}  // namespace harmonium
