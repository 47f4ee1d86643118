// The families dbn and classification_dbn: greedy training of a stack of RBMs (families/belief_net_stages.h), then
// up–down.
#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/belief_net_stages.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/up_down_trainee.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

// Whether the stack is trained as a whole, after its layers.
bool by_up_down(const RunConfig& config) { return config.start != "none" || config.pretrain != "none"; }

void check_start(const RunConfig& config, const RunData& data, const TrainedStack& start) {
  const BeliefNet net = start.net();
  require(start.kind == config.model, "@start {}: that is a {}, and @model asks for a {}", config.start, start.kind,
          config.model);
  require(layers_text(net.down) == config.layers, "@layers {}: the hidden layers of {} are {}", config.layers,
          config.start, layers_text(net.down));
  require(net.down.front().unit(0).spec() == config.visible,
          "{} has visible units '{}', and the data are learnt as '{}'; give data like those it was trained on, or "
          "@visible",
          config.start, net.down.front().unit(0).spec(), config.visible);
  if (!net.labelled()) return;
  const std::int64_t classes = count_label_classes(net);
  for (const Dataset* each : {&data.train, &data.valid}) {
    if (each->rows() == 0) continue;
    require(each->labels.defined(), "{} has no labels, and {} has a label to learn", each->name, config.start);
    require(each->labels.lt(0).logical_or(each->labels.ge(classes)).sum().item<std::int64_t>() == 0,
            "{} has classes that {} does not have: it knows 0 … {}", each->name, config.start, classes - 1);
  }
}

void resolve_up_down(RunConfig& config) {
  require(config.start == "none" || config.pretrain == "none",
          "@pretrain {} and @start {}: a belief net begins with one or the other", config.pretrain, config.start);
  require(config.start != "none" || config.pretrain == "rbm",
          "@pretrain {}: the layers of a belief net are learnt by rbm, or not by themselves (none)", config.pretrain);
  require(config.pretrain != "none" || config.pretrain_updates == 0, "@pretrain_updates {} without @pretrain",
          config.pretrain_updates);
  if (config.pretrain != "none" && config.pretrain_updates == 0) config.pretrain_updates = config.updates;
  if (config.start != "none" && config.layers == "none")
    config.layers = layers_text(read_trained_stack(config.start).stack());
  require(config.sparsity_cost == 0, "@sparsity_cost {} is about one machine, and up–down trains all layers at once",
          config.sparsity_cost);
  // A belief net 784-200-200 of MNIST after 3000 updates: its bound rises from −98.4 to −96.2 (sgd, 0.05), −96.6 (0.2),
  // −95.5 (adam, 0.003) and −95.2 (0.01). Chains of pcd follow sgd (0.1: −96.0) but not adam (0.003: −97.5).
  if (config.optimizer == "auto")
    config.optimizer = make_negative_phase(config.gradient, {})->paired_with_batch() ? "adam" : "sgd";
  require(config.optimizer == "sgd" || config.optimizer == "adam",
          "@optimizer {}: up–down steps by sgd (with @momentum) or adam", config.optimizer);
  if (config.rate_weights == 0) config.rate_weights = config.optimizer == "adam" ? 0.01 : 0.1;
  if (config.rate_bias == 0) config.rate_bias = config.rate_weights;
}

// Learns layers by themselves with the optimizers of machines.
void resolve_greedy(RunConfig& config, RunData& data) {
  resolve_machine(config, data);
  require(config.pretrain_updates == 0, "@pretrain_updates {} without @pretrain", config.pretrain_updates);
}

void resolve_belief_net(RunConfig& config, RunData& data) {
  if (config.gradient == "auto") config.gradient = "pcd";
  if (by_up_down(config)) resolve_up_down(config);
  require(config.layers != "none" && !config.layers.empty(),
          "@model {} needs @layers: its hidden layers from the bottom up, such as 500,500,2000", config.model);
  config.hidden = "none";
  require(config.keep != "best" || config.model == "classification_dbn",
          "@keep best chooses by classification error; it needs @model classification_dbn");
  for (const std::string& spec : stage_units(config)) {
    check_unit("@layers", config.layers, spec);
    const Unit::Support support = make_unit(spec)->support();
    require(support == Unit::Support::bits || support == Unit::Support::reals,
            "@layers {}: layers of a stack have bernoulli or gaussian units", config.layers);
  }
  if (!by_up_down(config)) resolve_greedy(config, data);
  if (config.particles == 0) config.particles = config.batch;
}

// Machines of a finished greedy training as one model.
std::unique_ptr<Model> assemble(const RunConfig& config, const RunData& data, const StageModels& stages) {
  require(!stages.empty(), "a belief net is put together from the machines of its stages, and there are none");
  TrainedStack stack{.machines = {}, .kind = config.model, .image = data.train.image};
  for (const auto& each : stages) {
    stack.machines.push_back(*each->machine());
    stack.machines.back().notes = each->info().notes;
  }
  stack.notes = stack.machines.front().notes;
  stack.notes["updates"] = std::to_string(static_cast<std::int64_t>(stages.size()) * config.updates);
  stack.notes["seed"] = std::to_string(config.seed);
  return std::make_unique<BeliefNetModel>(std::move(stack));
}

std::unique_ptr<Model> make_belief_net(const RunConfig& config, const RunData& data, const StageModels& stages) {
  if (!by_up_down(config)) return assemble(config, data, stages);
  const auto* pretrained = stages.empty() ? nullptr : dynamic_cast<const BeliefNetModel*>(stages.front().get());
  TrainedStack model = pretrained != nullptr ? pretrained->trained() : read_trained_stack(config.start);
  if (pretrained == nullptr) check_start(config, data, model);
  model.notes["start"] =
      pretrained != nullptr ? "layers pretrained by " + config.pretrain : "trained on by up-down from " + config.start;
  model.notes["data"] = config.data;
  model.notes["binarization"] = to_string(data.binarization);
  model.notes["objective"] = "up-down";
  model.notes["gradient"] = config.gradient;
  model.notes["optimizer"] = config.optimizer;
  model.notes["seed"] = std::to_string(config.seed);
  return std::make_unique<BeliefNetModel>(std::move(model));
}

std::unique_ptr<Trainee> train_belief_net(const RunConfig& config, const RunData& data, const Model& start) {
  if (!by_up_down(config)) return nullptr;
  return make_up_down_trainee(config, data, dynamic_cast<const BeliefNetModel&>(start).trained());
}

std::optional<Stages> stages_of(const RunConfig& config, const RunData& data) {
  if (config.start != "none") return std::nullopt;
  if (config.pretrain != "none")
    return Stages{.count = 1,
                  .place = [](std::size_t) { return std::string("pretraining"); },
                  .config = [config](std::size_t) { return greedy_config(config); },
                  .encode = {},
                  .data = data,
                  .updates = config.pretrain_updates * static_cast<std::int64_t>(count_stages(config)),
                  .done = "the layers are learnt; now all of them together"};
  return Stages{
      .count = count_stages(config),
      .place = [](std::size_t stage) { return format("layer-{}", stage + 1); },
      .config = [config](std::size_t stage) { return stage_config(config, stage); },
      .encode = [](const Model& model, const RunData& seen) { return encode_data(model.machine()->machine, seen); },
      .data = data,
      .updates = config.updates};
}

void check_belief_net(const RunConfig& config, const RunData& data) {
  if (!by_up_down(config)) {
    rehearse_stages(config, data);
    return;
  }
  if (config.keep == "best") {
    require_validation_data(data);
    require(data.valid.labels.defined(), "@keep best: validation data {} have no labels", config.valid);
  }
  require(count_stages(config) >= 2,
          "@layers {}: up–down trains ways up and down between hidden layers, of which at least two are needed",
          config.layers);
  (void)make_negative_phase(config.gradient, {});  // a wrong name shows here
  if (config.pretrain != "none")
    rehearse_stages(greedy_config(config), data);
  else
    (void)train_belief_net(config, data, *make_belief_net(config, data, {}));
}

void start_up_down(RunConfig& config, const Model& source, const RunConfig* run) {
  config.visible = source.visible().spec();
  if (run != nullptr) {
    config.binarize = run->binarize;
    config.shrink = run->shrink;
  }
  // As published: chains of the top machine start where the way up ends, and take longer walks towards the end.
  config.gradient = "cd";
  config.sweeps = 3;
  config.sweeps_final = 10;
}

Family belief_net(const char* name, const char* help, const char* example) {
  return {.name = name,
          .title = "Deep belief net",
          .help = help,
          .example = example,
          .options = groups::joined({groups::common(),
                                     groups::contrastive(),
                                     groups::metric(),
                                     groups::sparsity(),
                                     {"layers", "start", "pretrain", "pretrain_updates"}}),
          .resolve = resolve_belief_net,
          .make = make_belief_net,
          .train = train_belief_net,
          .read = read_belief_net_model,
          .check = check_belief_net,
          .stages = stages_of,
          .size =
              [](const RunConfig& config) {
                ModelSize all;  // learnt one after the other, so the widest counts
                for (std::size_t i = 0; i < count_stages(config); ++i) {
                  const RunConfig one = stage_config(config, i);
                  const ModelSize size = find_family(one.model).size(one);
                  all = {.weights = all.weights + size.weights, .units = std::max(all.units, size.units)};
                }
                return all;
              },
          .products =
              [](const RunConfig& config) {
                double most = 0;
                for (std::size_t i = 0; i < count_stages(config); ++i) {
                  const RunConfig one = stage_config(config, i);
                  most = std::max(most, find_family(one.model).products(one));
                }
                return most;
              },
          .begin_from = BeginFrom{.to = "generative",
                                  .help = "a belief net whose ways up and down have weights of their own, all trained "
                                          "together by up-down (here @gradient cd @sweeps 3 @sweeps_final 10 unless "
                                          "given)",
                                  .complaint =
                                      [family = std::string(name)](const Model& source, const std::string& where) {
                                        return source.info().family == family
                                                   ? ""
                                                   : format("up-down trains the layers of a {}, and {} is a {}", family,
                                                            where, source.info().family);
                                      },
                                  .configure = start_up_down},
          .keeps_start = by_up_down,
          .labelled = [](const RunConfig& config) { return config.model == "classification_dbn"; }};
}

}  // namespace

std::unique_ptr<Model> read_belief_net_model(const ModelHeader& header, const TensorFile& file,
                                             const std::string& where) {
  if (!header.structure.is_object() || !header.structure.contains("stack")) return nullptr;
  return std::make_unique<BeliefNetModel>(unpack_stack(file, where));
}

Family dbn_family() {
  return belief_net("dbn",
                    "deep belief net: a stack of RBMs, trained one after the other, then by up-down if asked for",
                    "harmonium train --data digits --model dbn --layers 100,50");
}

Family classification_dbn_family() {
  return belief_net("classification_dbn", "deep belief net with the label joined to its penultimate layer",
                    "harmonium train --data digits --model classification_dbn --layers 100,50");
}

}  // namespace harmonium
