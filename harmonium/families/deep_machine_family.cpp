#include "harmonium/families/deep_machine_family.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/inference_options.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/extended_chain.h"
#include "harmonium/models/pretrained_chain.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

// Stages of other families are configured without these.
InferenceOptions deep_options(const RunConfig& config) {
  const InferenceOptions* given = config.own.find<InferenceOptions>();
  return given == nullptr ? InferenceOptions{} : *given;
}

bool begins_with_machine(const RunConfig& config) { return config.start != "none"; }

// Why a deep machine with these options cannot begin with the model that lies at `where`; empty where it can.
std::string start_complaint(const Model& source, const std::string& where, const std::vector<std::string>& chain) {
  if (source.machine() == nullptr)
    return format("{} is a {}; a dbm begins with an RBM or a deep Boltzmann machine", where, source.title());
  const std::string complaint = extension_complaint(source.machine()->machine, chain);
  return complaint.empty() ? "" : format("{} is a {}: {}", where, source.title(), complaint);
}

BoltzmannMachine extended_machine(const RunConfig& config) {
  const std::unique_ptr<Model> source = open_model(config.start);
  const std::string complaint = start_complaint(*source, config.start, chain_specs(config));
  require(complaint.empty(), "@start with @layers {}: {}", config.layers, complaint);
  return extend_chain(source->machine()->machine, chain_specs(config), Key(config.seed).fold_in(run_streams::initial),
                      config.initial_weights);
}

void resolve_deep(RunConfig& config, RunData& data) {
  check_inference(deep_options(config));
  require(!begins_with_machine(config) || config.pretrain == "none",
          "@start and @pretrain {}: a dbm begins with a trained machine or with RBMs of its own, not with both",
          config.pretrain);
  require(!begins_with_machine(config) || config.scale != "standardize",
          "@start with @scale standardize: the machine it begins with has learnt values in their own units");
  require(config.labels == "none" || config.labels == "top", "@labels {}: there are none and top", config.labels);
  require(config.layers != "none" && !config.layers.empty(),
          "@model dbm needs @layers: its hidden layers from the bottom up, such as 100,50");
  config.hidden = "none";
  require(config.pretrain == "none" || config.pretrain == "rbm",
          "@pretrain {}: a dbm is pretrained by rbm, or not at all (none)", config.pretrain);
  require(config.pretrain_updates == 0 || config.pretrain != "none", "@pretrain_updates {} without @pretrain",
          config.pretrain_updates);
  if (config.pretrain != "none" && config.pretrain_updates == 0) config.pretrain_updates = config.updates;
  // Covariances between all layers of a deep machine from a hundred chains are noise that fang may follow.
  constexpr std::int64_t fewest_chains = 500;
  if (config.particles == 0) config.particles = std::max(config.batch, fewest_chains);
  const bool given_bias = config.rate_bias != 0, given_weights = config.rate_weights != 0;
  resolve_machine(config, data);
  if (config.pretrain == "none" && !begins_with_machine(config)) return;
  const Rates rates = joint_rates(config);
  if (!given_bias) config.rate_bias = rates.bias;
  if (!given_weights) config.rate_weights = rates.weights;
}

std::unique_ptr<Model> make_deep(const RunConfig& config, const RunData& data, const StageModels& stages) {
  check_unit("@visible", config.visible, config.visible);
  for (const std::string& spec : chain_specs(config)) check_unit("@layers", config.layers, spec);
  if (config.pretrain != "none") (void)pretraining_rbms(chain_specs(config));  // fails where they cannot be made
  const std::int64_t classes = label_classes(config, data);
  TrainedMachine model = initialized_machine(
      classes > 0 ? make_labelled_chain(chain_specs(config), classes) : make_chain(chain_specs(config)), config, data);
  // What `evaluate` anneals rows for: such machines are far above the mean-field bound.
  note_inference(model, deep_options(config));
  // A label layer, if there is one, stays as it is.
  const auto begin_with = [&](const BoltzmannMachine& chain) {
    for (const auto& [name, value] : chain.parameters().entries()) model.machine.parameters()[name].copy_(value);
  };
  if (begins_with_machine(config)) begin_with(extended_machine(config));
  if (!stages.empty()) {
    std::vector<BoltzmannMachine> rbms;
    for (const auto& each : stages) rbms.push_back(each->machine()->machine);
    begin_with(compose_chain(rbms));
  }
  auto result = std::make_unique<MachineModel>(std::move(model));
  if (!stages.empty()) result->chains = chains_of_pretrained(result->machine()->machine, config, data);
  return result;
}

std::unique_ptr<Trainee> train_deep(const RunConfig& config, const RunData& data, const Model& start) {
  const TrainedMachine& machine = *start.machine();
  check_machine(machine.machine, config, data);
  const NamedTensors chains = begins_with_machine(config) ? chains_of_pretrained(machine.machine, config, data)
                                                          : dynamic_cast<const MachineModel&>(start).chains;
  return train_machine(config, data, machine, chains, data_inference(config, deep_options(config)));
}

std::optional<Stages> pretraining(const RunConfig& config, const RunData& data) {
  if (config.pretrain == "none") return std::nullopt;
  return Stages{
      .count = pretraining_rbms(chain_specs(config)).size(),
      .place = [](std::size_t stage) { return format("pretraining/layer-{}", stage + 1); },
      .config = [config](std::size_t stage) { return chain_stage_config(config, stage); },
      .encode = [](const Model& model, const RunData& seen) { return encode_data(model.machine()->machine, seen); },
      .data = data,
      .updates = config.pretrain_updates,
      .done = "the layers are learnt; now all of them together"};
}

ModelSize chain_size(const RunConfig& config) {
  std::vector<double> widths;
  for (const std::string& spec : chain_specs(config)) widths.push_back(static_cast<double>(make_unit(spec)->width()));
  return size_of_chain(widths);
}

// `finetune` adds a hidden layer as wide as the last one, unless layers say otherwise.
void start_deeper(RunConfig& config, const Model& source, const RunConfig* run) {
  if (source.machine() == nullptr) return;  // making it says what is wrong
  const BoltzmannMachine& machine = source.machine()->machine;
  config.visible = machine.unit(0).spec();
  config.layers.clear();
  for (std::size_t layer = 1; layer < machine.layers().size(); ++layer)
    config.layers += machine.unit(layer).spec() + ",";
  config.layers += machine.unit(machine.layers().size() - 1).spec();
  config.initial_weights = 0.02;
  if (run != nullptr) {
    config.binarize = run->binarize;
    config.shrink = run->shrink;
  }
}

double products(const RunConfig& config) {
  return chain_size(config).weights * static_cast<double>(config.batch + config.particles * config.sweeps);
}

}  // namespace

RunConfig chain_stage_config(const RunConfig& config, std::size_t stage) {
  const auto layers = pretraining_rbms(chain_specs(config)).at(stage);
  RunConfig result = config;
  result.model = "rbm";
  result.layers = "none";
  result.visible = layers.first;
  result.hidden = layers.second;
  result.gradient = "pcd";  // what a deep machine can be trained with besides need not do for an RBM of twins
  result.mean_field_steps = 0;
  result.updates = config.pretrain_updates;
  result.pretrain = "none";
  result.pretrain_updates = 0;
  // The joint training's rates may be small for reasons of its own; those that do for an RBM are known.
  const Rates rates = default_rates(config.optimizer);
  result.rate_bias = std::max(config.rate_bias, rates.bias);
  result.rate_weights = std::max(config.rate_weights, rates.weights);
  result.labels = result.snapshots = result.track = "none";
  result.keep = "last";
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 50);
  if (stage > 0) {
    result.shrink = 0;
    result.binarize = "stochastic";
  }
  result.seed = Key(config.seed).fold_in(run_streams::pretraining).fold_in(stage).bits() >> 1;
  return result;
}

Rates joint_rates(const RunConfig& config) {
  const Rates usual = default_rates(config.optimizer);
  if (config.optimizer != "fang") return usual;
  // MNIST: 200 and 100 hidden units keep what they know at the usual rates (0.05 for biases, 0.005 for weights); 500
  // and 1000 lose it at 0.03 and 0.003 and at 0.003 and 0.003, and keep it at 0.005 and 0.0005 and at 0.001 and 0.001.
  constexpr double few = 300;
  double hidden = 0;
  const std::vector<std::string> specs = chain_specs(config);
  for (std::size_t layer = 1; layer < specs.size(); ++layer) {
    check_unit("@layers", config.layers, specs[layer]);
    hidden += static_cast<double>(make_unit(specs[layer])->width());
  }
  const double share = few / std::max(few, hidden);
  return {.bias = usual.bias * share * share, .weights = usual.weights * share};
}

NamedTensors chains_of_pretrained(const BoltzmannMachine& machine, const RunConfig& config, const RunData& data) {
  if (!make_negative_phase(config.gradient, {})->takes_chains()) return {};
  constexpr std::int64_t sweeps = 200;
  const Key key = Key(config.seed).fold_in(run_streams::pretraining).fold_in(1000);
  const at::Tensor rows = at::remainder(at::arange(config.particles, at::kLong), data.train.rows());
  const at::Tensor chosen = permutation(key.fold_in(0), data.train.rows()).index_select(0, rows);
  State state = machine.independent_sample(key.fold_in(1), config.particles);
  state.layers[0] = binarize(data.train.gather(chosen), data.binarization, key.fold_in(2));
  (void)sample_layers(machine, state, key.fold_in(3), machine.hidden());
  gibbs(machine, state, key.fold_in(4), sweeps);
  NamedTensors chains;
  for (std::size_t layer = 0; layer < state.layers.size(); ++layer)
    chains.emplace_back(format("particles.{}", layer), state.layers[layer].to(find_device(config.device)));
  return chains;
}

Family dbm_family() {
  return {
      .name = "dbm",
      .title = "Deep Boltzmann machine",
      .help = "deep Boltzmann machine: hidden layers one above the other, see layers",
      .example = "harmonium train --data digits --model dbm --layers 100,50",
      .options = groups::joined({groups::common(),
                                 groups::tracked(),
                                 groups::contrastive(),
                                 groups::metric(),
                                 groups::sparsity(),
                                 {"layers", "labels", "start", "pretrain", "pretrain_updates", "patience"}}),
      .own = OwnOptions(InferenceOptions{}),
      .resolve = resolve_deep,
      .make = make_deep,
      .train = train_deep,
      .read = read_machine_model,
      .stages = pretraining,
      .size = chain_size,
      .products = products,
      .begin_from = BeginFrom{.to = "deeper",
                              .help = "a deep Boltzmann machine: the layers of an RBM or of a deep machine, and new "
                                      "ones above them (@layers names all of them; the usual one is as wide as the "
                                      "last)",
                              .complaint =
                                  [](const Model& source, const std::string& where) {
                                    if (source.machine() == nullptr) return start_complaint(source, where, {});
                                    // Any further layer: which ones there shall be is not known yet.
                                    std::vector<std::string> chain;
                                    for (std::size_t i = 0; i < source.machine()->machine.layers().size(); ++i)
                                      chain.push_back(source.machine()->machine.unit(i).spec());
                                    chain.emplace_back("bernoulli:1");
                                    return start_complaint(source, where, chain);
                                  },
                              .configure = start_deeper},
      .keeps_start = begins_with_machine,
      .labelled = has_label_layer};
}

}  // namespace harmonium
