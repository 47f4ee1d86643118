#include "harmonium/families/belief_net_family.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/training/belief_net_monitor.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/objectives/wake_sleep.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

// Whether the stack is trained as a whole, after its layers.
bool by_up_down(const RunConfig& config) { return config.start != "none" || config.pretrain != "none"; }

// Hidden layers from the bottom up as unit types.
std::vector<std::string> stage_units(const RunConfig& config) {
  std::vector<std::string> units;
  for (const std::string& item : split_layers(config.layers)) units.push_back(unit_spec(item));
  return units;
}

std::int64_t count_label_classes(const BeliefNet& net) {
  return net.labelled() ? net.top().unit(net.top().observed()[1]).width() : 0;
}

Training make_up_down(const RunConfig& config, const RunData& data, const BeliefNet& net) {
  const Key key(config.seed);
  BatchStream batches(data.train,
                      {.batch = config.batch,
                       .binarization = data.binarization,
                       .shrink = config.shrink,
                       .classes = count_label_classes(net)},
                      key.fold_in(run_streams::batches));
  auto top_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  return make_training(
      net, std::move(batches), std::move(top_phase), config.optimizer, step_options(config),
      {.updates = config.updates, .averaging = config.averaging, .seed = key.fold_in(run_streams::updates).bits()});
}

// The layers by themselves, learnt as those of nets are.
RunConfig greedy_config(const RunConfig& config) {
  const RunConfig usual;
  RunConfig result = config;
  result.start = result.pretrain = "none";
  result.pretrain_updates = 0;
  result.updates = config.pretrain_updates;
  result.gradient = "pcd";
  result.sweeps = usual.sweeps;
  result.sweeps_final = usual.sweeps_final;
  result.mean_field_steps = usual.mean_field_steps;
  learn_layers_soon(result);
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 20);
  return result;
}

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

class UpDownTrainee final : public Trainee {
 public:
  UpDownTrainee(const RunConfig& config, const RunData& data, TrainedStack start)
      : Trainee(make_up_down(config, data, start.net())),
        data_(data),
        valid_(config.valid),
        chooses_(config.keep == "best"),
        start_(std::move(start)),
        monitor_(data.train, data.valid, data.binarization, Key(config.seed).fold_in(run_streams::monitor).bits()) {}

  [[nodiscard]] std::map<std::string, double> measure() override {
    const BeliefNet averaged = averaged_belief_net(training_);
    std::map<std::string, double> metrics =
        monitor_.measure(averaged, training_.objective_as<WakeSleep>().drawn().asleep);
    if (chooses_) {
      metrics["classification_error"] = belief_net_error(averaged, data_.valid, data_.binarization);
      training_.observe_error(metrics["classification_error"]);
    }
    metrics.merge(training_.take_measurements());
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    TrainedStack trained = start_;
    const BeliefNet net = with_parameters(belief_net_of(training_), of.parameters);
    for (std::size_t i = 0; i < net.down.size(); ++i) trained.machines[i].machine = net.down[i];
    trained.recognition = MachineStack(net.up.begin(), net.up.end() - 1);
    trained.notes["updates"] = std::to_string(of.update);
    if (!training_.best().empty()) trained.notes["chosen_by"] = valid_;
    keep_data_moments(trained, net);
    return std::make_unique<BeliefNetModel>(std::move(trained));
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    if (training_.best().empty()) return {};
    return {format("kept the net of update {}: {:.2f} % of the {} validation rows are misclassified", kept.update,
                   100 * training_.best().error(), data_.valid.rows())};
  }

 private:
  // What estimates of the top machine's log Z start from: averages of the data as the way up now shows them.
  void keep_data_moments(TrainedStack& trained, const BeliefNet& net) const {
    constexpr std::int64_t enough_rows = 20'000;
    RunData seen{.train = data_.train.first(enough_rows), .valid = {}, .binarization = data_.binarization};
    for (std::size_t l = 0; l + 1 < net.up.size(); ++l) seen = encode_data(net.up[l], seen);
    TrainedMachine& top = trained.machines.back();
    if (!top.data_moments.empty()) top.data_moments[0] = top.machine.unit(0).moments(seen.train.to_float(), {});
  }

  RunData data_;
  std::string valid_;
  bool chooses_;
  TrainedStack start_;
  BeliefNetMonitor monitor_;
};

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
  require(config.device == "cpu", "@device {}: belief nets are trained on by up–down on the CPU", config.device);
  require(config.sparsity_cost == 0, "@sparsity_cost {} is about one machine, and up–down trains all layers at once",
          config.sparsity_cost);
  // A belief net 784-200-200 of MNIST after 3000 updates: its bound rises from −98.4 to −96.2 (sgd, 0.05), −96.6 (0.2),
  // −95.5 (adam, 0.003) and −95.2 (0.01). Chains of pcd follow sgd (0.1: −96.0) but not adam (0.003: −97.5).
  if (config.optimizer == "auto") config.optimizer = config.gradient == "cd" ? "adam" : "sgd";
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
  return std::make_unique<UpDownTrainee>(config, data, dynamic_cast<const BeliefNetModel&>(start).trained());
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

// A rehearsal: all stages on a few rows, each machine as it begins.
void rehearse(const RunConfig& config, const RunData& data) {
  constexpr std::int64_t few_rows = 200;
  RunData seen = data;
  for (std::size_t stage = 0; stage < count_stages(config); ++stage) {
    const RunConfig one = stage_config(config, stage);
    const Family& family = find_family(one.model);
    const std::unique_ptr<Model> machine = family.make(one, seen, {});
    (void)family.train(one, seen, *machine);
    seen = encode_data(machine->machine()->machine,
                       {.train = seen.train.first(few_rows), .valid = seen.valid, .binarization = seen.binarization});
  }
}

void check_belief_net(const RunConfig& config, const RunData& data) {
  if (!by_up_down(config)) {
    rehearse(config, data);
    return;
  }
  if (config.keep == "best") {
    require(data.valid.rows() > 0,
            "@keep best chooses by validation data, and there are none: give @valid, or train on a part that leaves "
            "some aside (such as mnist:fit)");
    require(data.valid.labels.defined(), "@keep best: validation data {} have no labels", config.valid);
  }
  require(count_stages(config) >= 2,
          "@layers {}: up–down trains ways up and down between hidden layers, of which at least two are needed",
          config.layers);
  (void)make_negative_phase(config.gradient, {});  // a wrong name shows here
  if (config.pretrain != "none")
    rehearse(greedy_config(config), data);
  else
    (void)train_belief_net(config, data, *make_belief_net(config, data, {}));
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
          .products =
              [](const RunConfig& config) {
                double most = 0;
                for (std::size_t i = 0; i < count_stages(config); ++i) {
                  const RunConfig one = stage_config(config, i);
                  most = std::max(most, find_family(one.model).products(one));
                }
                return most;
              },
          .keeps_start = by_up_down,
          .labelled = [](const RunConfig& config) { return config.model == "classification_dbn"; }};
}

}  // namespace

std::size_t count_stages(const RunConfig& config) { return stage_units(config).size(); }

std::string layers_text(const MachineStack& stack) {
  std::string text;
  for (const BoltzmannMachine& machine : stack) {
    const std::string spec = machine.unit(machine.hidden().front()).spec(), bits = "bernoulli:";
    text += (text.empty() ? "" : ",") + (spec.starts_with(bits) ? spec.substr(bits.size()) : spec);
  }
  return text;
}

RunConfig stage_config(const RunConfig& config, std::size_t stage) {
  const std::vector<std::string> units = stage_units(config);
  const bool top = stage + 1 == units.size();
  RunConfig result = config;
  result.model = top && config.model == "classification_dbn" ? "classification_rbm" : "rbm";
  result.hidden = units.at(stage);
  result.layers = "none";
  result.keep = result.model == "classification_rbm" ? config.keep : "last";
  result.seed = Key(config.seed).fold_in(stage).bits() >> 1;  // a seed has 63 bits
  if (stage == 0) return result;
  result.visible = units.at(stage - 1);
  result.shrink = 0;
  result.binarize = make_unit(result.visible)->support() == Unit::Support::bits ? "stochastic" : "none";
  return result;
}

void learn_layers_soon(RunConfig& config) {
  const RunConfig usual;
  config.optimizer = "fang";
  // Not larger: at four times these rates layers begin classifiers worse than random weights do (docs/nets.md).
  const Rates rates = default_rates(config.optimizer);
  config.rate_bias = rates.bias;
  config.rate_weights = rates.weights;
  config.schedule = usual.schedule;
  config.momentum = usual.momentum;
  config.weight_decay = usual.weight_decay;
  config.weight_decay_l1 = usual.weight_decay_l1;
  config.averaging = usual.averaging;
  config.particles = config.batch;
}

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
