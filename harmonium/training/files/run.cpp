#include "harmonium/training/files/run.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/pretrained_chain.h"
#include "harmonium/training/files/chain_pretraining.h"
#include "harmonium/training/files/checkpoint.h"
#include "harmonium/training/files/machine_run.h"
#include "harmonium/training/files/net_run.h"
#include "harmonium/training/files/run_loop.h"
#include "harmonium/training/files/stack_run.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

bool is_deep(const RunConfig& config) { return config.model == "dbm"; }
bool has_hidden(const RunConfig& config) { return config.model != "mrf" && !is_deep(config); }
bool joins_visible(const RunConfig& config) { return config.model == "mrf" || config.model == "semi_restricted"; }

// A number of units means binary ones.
std::string unit_spec(const std::string& given) {
  const bool plain_number = !given.empty() && given.find_first_not_of("0123456789") == std::string::npos;
  return plain_number ? "bernoulli:" + given : given;
}

BoltzmannMachine make_machine(const RunConfig& config, std::int64_t classes) {
  if (config.model == "mrf") return make_mrf(config.visible);
  if (is_deep(config))
    return classes > 0 ? make_labelled_chain(chain_specs(config), classes) : make_chain(chain_specs(config));
  const std::string hidden = unit_spec(config.hidden);
  if (config.model == "semi_restricted") return make_semi_restricted(config.visible, hidden);
  return classes > 0 ? make_classification_rbm(config.visible, classes, hidden) : make_rbm(config.visible, hidden);
}

// Fails naming the flag and what it was given.
void check_keep_best(const RunConfig& config, const RunData& data) {
  require(knows_labels(config),
          "--keep best chooses by classification error; it needs --model classification_rbm, or --labels top");
  require(data.valid.rows() > 0,
          "--keep best chooses by validation data, and there are none: give --valid, or train on a part that leaves "
          "some aside (such as mnist:fit)");
  require(data.valid.labels.defined(), "--keep best: validation data {} have no labels", config.valid);
}

}  // namespace

// Looked at in pieces, because as floats the whole table may not fit in memory.
void check_values(const Dataset& data, const Unit& visible) {
  constexpr std::int64_t rows_at_once = 20'000;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::string complaint =
        visible.complaint(data.slice(first, std::min(first + rows_at_once, data.rows())).to_float());
    require(complaint.empty(), "{}{}: {}. Use --visible gaussian for real values, or scale the data", data.name,
            first == 0 ? "" : format(", counted from row {}", first), complaint);
  }
}

void check_unit(const char* flag, const std::string& given, const std::string& spec) {
  try {
    (void)make_unit(spec);
  } catch (const Error& error) {
    fail("{} {}: {}", flag, given, error.what());
  }
}

std::vector<std::string> chain_specs(const RunConfig& config) {
  std::vector<std::string> specs = {config.visible};
  std::istringstream text(config.layers);
  for (std::string item; std::getline(text, item, ',');) specs.push_back(unit_spec(item));
  return specs;
}

bool knows_labels(const RunConfig& config) {
  return config.model == "classification_rbm" || config.model == "classification_dbn" || config.model == "mlp" ||
         config.labels == "top";
}

double products_per_update(const RunConfig& config) {
  if (trains_net(config)) return net_products_per_update(config);
  if (trains_stack(config)) {
    double most = 0;
    for (std::size_t i = 0; i < count_stages(config); ++i)
      most = std::max(most, products_per_update(stage_config(config, i)));
    return most;
  }
  const std::int64_t visible = make_unit(config.visible)->width();
  std::int64_t weights = has_hidden(config) ? visible * make_unit(unit_spec(config.hidden))->width() : 0;
  if (is_deep(config))
    for (std::int64_t below = 0; const std::string& spec : chain_specs(config)) {
      const std::int64_t width = make_unit(spec)->width();
      weights += std::exchange(below, width) * width;
    }
  if (joins_visible(config)) weights += visible * visible;
  return static_cast<double>(weights) * static_cast<double>(config.batch + config.particles * config.sweeps);
}

Model initial_model(const RunConfig& config, const RunData& data) {
  check_unit("--visible", config.visible, config.visible);
  if (has_hidden(config)) check_unit("--hidden", config.hidden, unit_spec(config.hidden));
  if (is_deep(config))
    for (const std::string& spec : chain_specs(config)) check_unit("--layers", config.layers, spec);
  const std::int64_t classes = label_classes(config, data);
  Model model{make_machine(config, classes)};
  const Unit& visible = model.machine.unit(0);
  require(visible.width() == data.train.columns(), "{} has {} columns, but --visible {} asks for {}", data.train.name,
          data.train.columns(), config.visible, visible.width());
  // Averages of the gray values are the expected averages of their binary draws.
  constexpr std::int64_t enough_rows = 20'000;
  const at::Tensor sample = data.train.first(enough_rows).to_float();
  check_values(data.train, visible);
  if (data.valid.rows() > 0) {
    require(data.valid.columns() == data.train.columns(),
            "validation data {} have {} columns, training data {} have {}", data.valid.name, data.valid.columns(),
            data.train.name, data.train.columns());
    check_values(data.valid, visible);
  }
  model.data_moments.push_back(visible.moments(sample, {}));
  if (visible.parameter_names().size() == 1) model.data_moments[0][0] = data.train.column_means().to(at::kFloat);
  if (classes > 0) model.data_moments.push_back({at::one_hot(data.train.labels, classes).to(at::kFloat).mean(0)});
  initialize(model.machine, Key(config.seed).fold_in(run_streams::initial), config.initial_weights, model.data_moments);
  model.kind = config.model;
  model.image = data.train.image;
  model.notes = {{"data", config.data},
                 {"binarization", to_string(data.binarization)},
                 {"objective", config.objective},
                 {"gradient", config.objective == "discriminative" ? "sum over classes" : config.gradient},
                 {"optimizer", config.optimizer},
                 {"seed", std::to_string(config.seed)}};
  return model;
}

void check_config(const RunConfig& config, const RunData& data) {
  (void)find_device(config.device);
  (void)parse_precision(config.precision);
  if (trains_net(config)) {
    check_net_config(config, data);
    return;
  }
  if (trains_stack(config)) {
    check_stack_config(config, data);
    return;
  }
  check_config(config, data, initial_model(config, data));
}

void check_config(const RunConfig& config, const RunData& data, const Model& initial) {
  (void)find_device(config.device);
  (void)parse_precision(config.precision);
  const BoltzmannMachine& machine = initial.machine;
  require(config.gradient != "exact" || can_enumerate(machine, enumeration_bits),
          "--gradient exact visits every state of the smaller side, at most 2^{} of them: with --visible {} and "
          "--{} {} there are more; use fewer units, or --gradient pcd",
          enumeration_bits, config.visible, is_deep(config) ? "layers" : "hidden",
          is_deep(config) ? config.layers : config.hidden);
  if (config.pretrain != "none") (void)pretraining_rbms(chain_specs(config));
  if (is_deep(config))
    require(
        config.gradient != "cd" && config.gradient != "mf_cd" && config.gradient != "pl",
        "--gradient {} needs hidden layers that are known once the data are, and those of --model dbm are joined to "
        "each other; use pcd, fpcd, pt, tempered or exact",
        config.gradient);
  require(config.mean_field_steps == 0 || config.gradient == "pcd" || config.gradient == "fpcd",
          "--mean-field-steps {}: such steps start at the chains of pcd or fpcd, and --gradient is {}; leave it out, "
          "or use "
          "pcd",
          config.mean_field_steps, config.gradient);
  if (joins_visible(config)) {
    require(
        config.gradient != "mf_cd",
        "--gradient mf_cd moves a layer at once, which edges inside a layer forbid, and --model {} has them; use pcd, "
        "cd or pl",
        config.model);
    require(config.mean_field_steps == 0,
            "--mean-field-steps {} moves a layer at once, which edges inside a layer forbid, and --model {} has them; "
            "leave it out",
            config.mean_field_steps, config.model);
    require(config.optimizer != "metric_free" || (config.gradient != "exact" && config.gradient != "pl"),
            "--optimizer metric_free looks at chains, and --gradient {} has none; use fang, centering or sgd",
            config.gradient);
    const std::vector<std::string> known = {"fang", "centering", "enhanced", "sgd", "diagonal", "metric_free"};
    require(
        std::ranges::find(known, config.optimizer) != known.end(),
        "--optimizer {} does not know edges inside a layer, which --model {} has; there are fang, centering, enhanced, "
        "sgd, diagonal and metric_free",
        config.optimizer, config.model);
  }
  if (config.objective != "generative") (void)label_layer(machine);
  require(config.objective != "discriminative" ||
              !make_metric(config.optimizer, machine.topology(), machine.parameters())->wants_statistics(),
          "--optimizer {} looks at chains, and --objective discriminative has none; use --optimizer centering or sgd",
          config.optimizer);
  if (config.keep == "best") check_keep_best(config, data);
  (void)make_machine_training(config, data, machine);  // finds what else is wrong
}

RunResult run_training(const fs::path& folder, const RunConfig& config, const ConfigText& config_text,
                       const RunData& data, const RunHooks& hooks) {
  set_device_precision(parse_precision(config.precision));
  if (trains_net(config)) return run_net_training(folder, config, config_text, data, hooks);
  if (trains_stack(config)) return run_stack_training(folder, config, config_text, data, hooks);
  Model model = initial_model(config, data);
  NamedTensors chains;
  if (config.pretrain != "none" && !read_checkpoint(folder / "checkpoint")) {
    const RunResult before = pretrain_chain(model.machine, folder, config, config_text, data, hooks);
    if (!before.finished) return before;
    chains = chains_of_pretrained(model.machine, config, data);
  }
  MachineRun run(config, data, std::move(model), chains);
  return run_loop(folder, config, config_text(config), hooks, run);
}

}  // namespace harmonium
