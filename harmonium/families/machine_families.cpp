// Boltzmann machines with at most one hidden layer: rbm, classification_rbm, mrf, semi_restricted.
#include "harmonium/core/error.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/rare_start.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

std::unique_ptr<Model> finish(BoltzmannMachine machine, const RunConfig& config, const RunData& data) {
  return std::make_unique<MachineModel>(initialized_machine(std::move(machine), config, data));
}

void check_units(const RunConfig& config) {
  check_unit("@visible", config.visible, config.visible);
  check_unit("@hidden", config.hidden, hidden_spec(config.hidden));
}

std::unique_ptr<Model> make_rbm_model(const RunConfig& config, const RunData& data, const StageModels&) {
  check_units(config);
  return finish(make_rbm(config.visible, hidden_spec(config.hidden)), config, data);
}

std::unique_ptr<Model> make_classification_model(const RunConfig& config, const RunData& data, const StageModels&) {
  check_units(config);
  return finish(make_classification_rbm(config.visible, label_classes(config, data), hidden_spec(config.hidden)),
                config, data);
}

std::unique_ptr<Model> make_semi_restricted_model(const RunConfig& config, const RunData& data, const StageModels&) {
  check_units(config);
  return finish(make_semi_restricted(config.visible, hidden_spec(config.hidden)), config, data);
}

std::unique_ptr<Model> make_mrf_model(const RunConfig& config, const RunData& data, const StageModels&) {
  check_unit("@visible", config.visible, config.visible);
  return finish(make_mrf(config.visible), config, data);
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  check_machine(start.machine()->machine, config, data);
  return train_machine(config, data, *start.machine());
}

double products_with(const RunConfig& config, double weights) {
  return weights * static_cast<double>(config.batch + config.particles * config.sweeps);
}
double visible_width(const RunConfig& config) { return static_cast<double>(make_unit(config.visible)->width()); }
ModelSize rbm_size(const RunConfig& config) {
  return size_of_chain({visible_width(config), static_cast<double>(make_unit(hidden_spec(config.hidden))->width())});
}
ModelSize mrf_size(const RunConfig& config) {
  return {.weights = visible_width(config) * visible_width(config), .units = visible_width(config)};
}
ModelSize semi_restricted_size(const RunConfig& config) {
  const ModelSize rbm = rbm_size(config);
  return {.weights = rbm.weights + mrf_size(config).weights, .units = rbm.units};
}

// Chains of a small machine freeze where the data have few, far apart modes; tempering costs little there. Validation
// rows after 3000 updates, 16 hidden units: bars and stripes −8.5 nats by pcd, −3.44 by pt (−3.40 are possible);
// shifter −9.1 and −8.4; digits the same. In a short run the weights do not grow so far.
void resolve_rbm(RunConfig& config, RunData& data) {
  constexpr double small = 4096;
  constexpr std::int64_t long_run = 1000;
  if (config.hidden != "none") check_unit("@hidden", config.hidden, hidden_spec(config.hidden));
  const auto has_bits = [](const std::string& spec) { return make_unit(spec)->support() == Unit::Support::bits; };
  if (config.gradient == "auto" && config.objective == "generative" && config.updates >= long_run &&
      config.mean_field_steps == 0 && config.device == "cpu" && has_bits(config.visible) &&
      has_bits(hidden_spec(config.hidden)) && rbm_size(config).weights <= small)
    config.gradient = "pt";
  if (config.initial_weights == 0 && config.visible.starts_with("gaussian") && config.hidden != "none")
    if (const auto scale = rare_start_scale(data.train.columns(), *make_unit(hidden_spec(config.hidden))))
      config.initial_weights = *scale;
  resolve_machine(config, data);
  require(config.coordinates == "natural" || config.coordinates == "means",
          "@coordinates {}: there are natural and means", config.coordinates);
  require(config.coordinates == "natural" || config.visible.starts_with("gaussian"),
          "@coordinates means is for gaussian data (@visible gaussian), not for @visible {}", config.visible);
  require(config.coordinates == "natural" || config.optimizer == "sgd",
          "@coordinates means is for plain gradients (@optimizer sgd), not for @optimizer {}: natural gradients do not "
          "depend on coordinates",
          config.optimizer);
}

Family single_layer(const char* name, const char* title, const char* help, const char* example) {
  return {.name = name,
          .title = title,
          .help = help,
          .example = example,
          .options = groups::joined({groups::common(),
                                     groups::tracked(),
                                     groups::contrastive(),
                                     groups::metric(),
                                     groups::sparsity(),
                                     {"hidden", "patience"}}),
          .resolve = resolve_machine,
          .make = make_rbm_model,
          .train = train,
          .read = read_machine_model,
          .size = rbm_size,
          .products = [](const RunConfig& config) { return products_with(config, rbm_size(config).weights); }};
}

}  // namespace

std::unique_ptr<Model> read_machine_model(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  if (!header.structure.is_object() || !header.structure.contains("layers")) return nullptr;
  return std::make_unique<MachineModel>(unpack_machine(file, where));
}

Family rbm_family() {
  Family family = single_layer("rbm", "RBM", "restricted Boltzmann machine",
                               "harmonium train --data digits --model rbm --hidden 100");
  family.resolve = resolve_rbm;
  family.options.emplace_back("coordinates");
  family.word_counts = true;
  family.keeps_likeliest = true;
  family.missing_values = true;
  family.standardizes = true;
  family.dequantizes = true;
  return family;
}

Family classification_rbm_family() {
  Family family =
      single_layer("classification_rbm", "Classification RBM", "RBM of data and label together",
                   "harmonium train --data digits --model classification_rbm --hidden 100 --objective hybrid");
  for (const char* each : {"objective", "generative_weight"}) family.options.emplace_back(each);
  family.make = make_classification_model;
  family.labelled = has_label_layer;
  family.word_counts = true;
  family.standardizes = true;
  return family;
}

Family semi_restricted_family() {
  Family family = single_layer("semi_restricted", "Semi-restricted Boltzmann machine",
                               "RBM whose visible units are joined to each other, too",
                               "harmonium train --data digits --model semi_restricted --hidden 50");
  family.make = make_semi_restricted_model;
  family.keeps_likeliest = true;
  family.size = semi_restricted_size;
  family.products = [](const RunConfig& config) { return products_with(config, semi_restricted_size(config).weights); };
  return family;
}

Family mrf_family() {
  return {.name = "mrf",
          .title = "Markov random field",
          .help = "no hidden units, every visible unit joined to every other (softmax units: a Potts model)",
          .example = "harmonium train --data digits --model mrf --gradient pl",
          .options = groups::joined(
              {groups::common(), groups::tracked(), groups::contrastive(), groups::metric(), {"patience"}}),
          .resolve =
              [](RunConfig& config, RunData& data) {
                config.hidden = "none";
                resolve_machine(config, data);
              },
          .make = make_mrf_model,
          .train = train,
          .read = read_machine_model,
          .size = mrf_size,
          .products = [](const RunConfig& config) { return products_with(config, mrf_size(config).weights); },
          .keeps_likeliest = true};
}

}  // namespace harmonium
