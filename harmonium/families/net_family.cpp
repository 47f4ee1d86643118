// The families mlp and autoencoder: feed-forward nets, from random weights, from layers that are pretrained one by one,
// or from a trained model that is unrolled (the option start).
#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/named_table.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/net_model.h"
#include "harmonium/families/net_pretraining.h"
#include "harmonium/families/net_trainee.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/posterior_inputs.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/unrolling.h"
#include "harmonium/training/net_loss.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

struct ClassifierOptions {
  std::string posterior_input = "no";
  double adversarial = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("posterior_input", self.posterior_input,
            "yes: a net that starts from a deep Boltzmann machine with two hidden layers takes, beside each row, the "
            "machine's mean-field means of the second; so it begins with the machine's own posterior. no: it does not");
    visitor("adversarial", self.adversarial,
            "half of the loss is that of harder rows: each value moved by this much in the direction in which the loss "
            "grows (adversarial training; 0: off, 0.1 for gray values). Takes about twice the time");
  }
};

// Autoencoders do not have these options.
double adversarial_step(const RunConfig& config) {
  const ClassifierOptions* given = config.own.find<ClassifierOptions>();
  return given == nullptr ? 0 : given->adversarial;
}

bool takes_posterior(const RunConfig& config) {
  const ClassifierOptions* given = config.own.find<ClassifierOptions>();
  return given != nullptr && given->posterior_input == "yes";
}

void check_posterior(const RunConfig& config) {
  const ClassifierOptions* given = config.own.find<ClassifierOptions>();
  if (given == nullptr) return;
  require(given->posterior_input == "yes" || given->posterior_input == "no",
          "@posterior_input {}: there are yes and no", given->posterior_input);
  if (given->posterior_input == "no") return;
  require(config.start != "none",
          "@posterior_input yes needs @start: a trained deep Boltzmann machine, whose posterior it is");
  require(config.binarize != "stochastic",
          "@posterior_input yes with @binarize stochastic: the posterior is found once for every row, before training; "
          "use @binarize none or threshold");
  require(config.shrink == 0, "@posterior_input yes with @shrink {}: values are taken as they are", config.shrink);
}

bool is_classifier(const RunConfig& config) { return config.model == "mlp"; }
bool takes_counts(const RunConfig& config) { return unit_type(config.visible).support == Unit::Support::counts; }

std::string widths_text(const MachineStack& stack) {
  std::string text;
  for (const BoltzmannMachine& machine : stack)
    text += format("{}{}", text.empty() ? "" : ",", machine.unit(machine.hidden().front()).width());
  return text;
}

std::int64_t count_classes(const RunConfig& config, const RunData& data) {
  require(data.train.labels.defined(),
          "{}: a classifier needs labels, and the data have none (in a column: @label_column first or last)",
          data.train.name);
  require(data.train.labels.min().item<std::int64_t>() >= 0, "{}: labels must not be negative", data.train.name);
  const std::int64_t classes = data.train.labels.max().item<std::int64_t>() + 1;
  require(classes >= 2, "{}: all rows are of one class", data.train.name);
  if (data.valid.rows() == 0) return classes;
  require(data.valid.labels.defined(), "validation data {} have no labels; give others, or @valid none", config.valid);
  require(data.valid.labels.lt(0).logical_or(data.valid.labels.ge(classes)).sum().item<std::int64_t>() == 0,
          "validation data {} have classes that {} does not have", config.valid, data.train.name);
  return classes;
}

void check_inputs(const Dataset& data, const RunConfig& config) {
  // A classifier takes any numbers; an autoencoder has to give back what it takes.
  const auto unit = make_unit(is_classifier(config) && !takes_counts(config) ? format("gaussian:{}", data.columns())
                                                                             : config.visible);
  require(unit->width() == data.columns(), "{} has {} columns, but @visible {} asks for {}", data.name, data.columns(),
          config.visible, unit->width());
  check_values(data, *unit);
}

BeliefNet unrollable(const Model& model, const std::string& where) {
  if (const auto* net = dynamic_cast<const BeliefNetModel*>(&model)) return net->net();
  require(model.machine() != nullptr, "{} is a {}, not a Boltzmann machine or a belief net to unroll", where,
          model.title());
  const BoltzmannMachine& machine = model.machine()->machine;
  try {
    MachineStack stack = stack_to_unroll(machine);
    require_stack(stack);
    return stack;
  } catch (const Error& error) {
    fail("{} cannot be unrolled: {}", where, error.marked());
  }
}

// The deep machine whose posterior a net takes.
BoltzmannMachine posterior_machine(const std::string& path) {
  const std::unique_ptr<Model> model = open_model(path);
  require(model->machine() != nullptr, "@posterior_input yes: {} is a {}, not a deep Boltzmann machine", path,
          model->title());
  const std::string complaint = posterior_complaint(model->machine()->machine);
  require(complaint.empty(), "@posterior_input yes: {} is a {}: {}", path, model->title(), complaint);
  return model->machine()->machine;
}

BeliefNet read_belief_net(const std::string& path) { return unrollable(*open_model(path), path); }

void resolve_net(RunConfig& config, RunData&) {
  config.hidden = "none";
  check_posterior(config);
  require(adversarial_step(config) >= 0 && std::isfinite(adversarial_step(config)),
          "@adversarial must be 0 or a positive number, and is {}", adversarial_step(config));
  if (config.gradient == "auto") config.gradient = "pcd";  // of layers that are pretrained as RBMs
  require(config.start == "none" || config.activation == "auto" || config.layers != "none",
          "@activation {}: a net that starts from a trained model has the activations of its units", config.activation);
  if (config.start != "none" && config.layers == "none") config.layers = widths_text(read_belief_net(config.start).up);
  (void)layer_widths(config.layers);
  require(is_classifier(config) || config.layers != "none",
          "@model autoencoder needs @layers: numbers of units from the data to the code, such as 500,250,30");
  (void)parse_activation(config.code);
  require(config.code == "linear" || !is_classifier(config), "@code {}: a classifier has no code", config.code);
  resolve_pretraining(config);
  if (config.activation == "auto") config.activation = config.start == "none" ? "relu" : "logistic";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be logistic, relu or linear");
  const bool real = unit_type(config.visible).support == Unit::Support::reals;
  require(
      is_classifier(config) || make_unit(config.visible)->activation().has_value(),
      "@visible {}: an autoencoder cannot reconstruct such units; these can be reconstructed: {}", config.visible,
      names_of(unit_types(), [](const UnitType& type) { return make_unit(type.example)->activation().has_value(); }));
  if (config.loss == "auto")
    config.loss = is_classifier(config)  ? "cross_entropy"
                  : takes_counts(config) ? "multinomial"
                  : real                 ? "squared"
                                         : "bernoulli";
  require((parse_loss(config.loss) == Loss::cross_entropy) == is_classifier(config),
          "@loss {} does not go with @model {}: a classifier has cross_entropy, an autoencoder bernoulli, squared or "
          "multinomial",
          config.loss, config.model);
  require(is_classifier(config) || (config.loss == "multinomial") == takes_counts(config),
          "@loss {} with @visible {}: multinomial is the loss of word counts (@visible counts), and the only one",
          config.loss, config.visible);
  require(config.loss != "bernoulli" || !real, "@loss bernoulli needs @visible bernoulli; for real values: squared");
  if (config.optimizer == "auto") config.optimizer = "adam";
  const auto type = std::ranges::find(optimizers(), config.optimizer, &OptimizerType::name);
  require(type != optimizers().end(), "@optimizer {}: nets are trained by one of {} (sgd with @momentum)",
          config.optimizer, names_of(optimizers()));
  // Layers of logistic units move slowly: begun with RBMs, 784-500-500 mistakes 3.7, 2.5 and 2.2 % of MNIST after 3000
  // updates of adam with 0.001, 0.003 and 0.01. Losses of reconstructions are sums over all pixels, and so are their
  // gradients.
  const double adam_rate = config.activation == "logistic" ? 0.01 : 0.001;
  const double sgd_rate = is_classifier(config) ? 0.1 : 0.002;
  const double usual_rate = config.optimizer == "adam"  ? adam_rate
                            : config.optimizer == "sgd" ? sgd_rate
                                                        : type->usual_rate;
  if (config.rate_weights == 0) config.rate_weights = usual_rate;
  if (config.rate_bias == 0) config.rate_bias = config.rate_weights;
  for (const auto& [flag, share] : {std::pair{"@dropout", config.dropout}, {"@dropout_inputs", config.dropout_inputs}})
    require(share >= 0 && share < 1, "{} must be at least 0 and below 1, not {}", flag, share);
  require(config.patience >= 0, "@patience must not be negative, and is {}", config.patience);
  require(config.patience == 0 || config.keep == "best",
          "@patience stops where validation data get no better, and nothing is kept by them: add @valid, or @keep "
          "best");
  if (config.particles == 0) config.particles = config.batch;
}

TrainedNet initial_net(const RunConfig& config, const RunData& data) {
  check_inputs(data.train, config);
  if (data.valid.rows() > 0) {
    require(data.valid.columns() == data.train.columns(),
            "validation data {} have {} columns, training data {} have {}", data.valid.name, data.valid.columns(),
            data.train.name, data.train.columns());
    check_inputs(data.valid, config);
  }
  const std::int64_t inputs = data.train.columns(), classes = is_classifier(config) ? count_classes(config, data) : 0;
  const std::vector<std::int64_t> widths = layer_widths(config.layers);
  const Key key = Key(config.seed).fold_in(run_streams::initial);
  const Activation hidden = parse_activation(config.activation);
  TrainedNet model{.net = is_classifier(config)
                              ? make_classifier(inputs, widths, classes, hidden)
                              : make_autoencoder(inputs, widths, hidden, *make_unit(config.visible)->activation(),
                                                 parse_activation(config.code)),
                   .kind = config.model,
                   .image = data.train.image};
  if (config.pretrain != "none") model.notes["start"] = "layers pretrained by " + config.pretrain;
  if (config.start == "none") {
    initialize(model.net, key);
  } else {
    const BeliefNet source = read_belief_net(config.start);
    const MachineStack& stack = source.up;
    require(stack.front().unit(0).width() == inputs, "{} has {} columns, the model {} has {} visible units",
            data.train.name, inputs, config.start, stack.front().unit(0).width());
    require(widths_text(stack) == config.layers, "@layers {}: the hidden layers of {} are {}", config.layers,
            config.start, widths_text(stack));
    if (takes_posterior(config)) {
      model.posterior = posterior_machine(config.start);
      model.net = unroll_with_posterior(*model.posterior, classes, key);
    } else {
      model.net = is_classifier(config) ? unroll_classifier(stack, classes, key) : unroll_autoencoder(source);
    }
    model.notes["start"] = "unrolled from " + config.start;
  }
  if (takes_counts(config)) {
    if (config.start != "none") take_shares(model.net, mean_length(data.train));
    model.net.set_input_form(InputForm::shares);
  }
  model.notes.insert({{"data", config.data},
                      {"binarization", to_string(data.binarization)},
                      {"loss", config.loss},
                      {"optimizer", config.optimizer},
                      {"seed", std::to_string(config.seed)}});
  return model;
}

std::unique_ptr<Model> make_net(const RunConfig& config, const RunData& data, const StageModels& stages) {
  TrainedNet model = initial_net(config, data);
  if (!stages.empty()) take_pretrained(model.net, config, data, stages);
  return std::make_unique<NetModel>(std::move(model));
}

std::unique_ptr<Trainee> train_net(const RunConfig& config, const RunData& data, const Model& start) {
  if (config.keep == "best") require_validation_data(data);
  const TrainedNet& net = dynamic_cast<const NetModel&>(start).trained();
  if (!net.posterior) return make_net_trainee(config, data, net, adversarial_step(config));
  return make_net_trainee(config, with_posterior(*net.posterior, data, find_device(config.device)), net,
                          adversarial_step(config));
}

void check_net(const RunConfig& config, const RunData& data) {
  RunData seen = data;
  if (takes_posterior(config)) {  // of all rows it takes a while
    seen.train = data.train.first(config.batch);
    if (data.valid.rows() > 0) seen.valid = data.valid.first(config.batch);
  }
  (void)train_net(config, seen, *make_net(config, data, {}));
  check_pretraining(config, data);
}

// The decoder of an autoencoder is as large as its encoder; the classes of a classifier hardly count.
ModelSize net_size(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const std::int64_t width : layer_widths(config.layers)) widths.push_back(static_cast<double>(width));
  const ModelSize half = size_of_chain(widths);
  return is_classifier(config) ? half : ModelSize{.weights = 2 * half.weights, .units = 2 * half.units};
}

// Forward, back to weights and back to values; adversarial examples add a way forward and two ways back.
double products(const RunConfig& config) {
  const double passes = adversarial_step(config) > 0 ? 7 : 3;
  return passes * static_cast<double>(config.batch) * net_size(config).weights;
}

// What unrolling would fail with.
template <class Unroll>
std::string complaint_of(const Model& source, const std::string& where, Unroll&& unroll) {
  try {
    const BeliefNet net = unrollable(source, where);
    try {
      (void)unroll(net);
      return {};
    } catch (const Error& error) {
      return format("{} cannot be unrolled: {}", where, error.marked());
    }
  } catch (const Error& error) {
    return error.marked();
  }
}

void start_unrolled(RunConfig& config, const Model& source, const RunConfig*) {
  config.visible = source.visible().spec();
}

Family net_family(const char* name, const char* title, const char* help, const char* example) {
  return {.name = name,
          .title = title,
          .help = help,
          .example = example,
          .options = groups::joined({groups::common(),
                                     {"layers", "activation", "start", "pretrain", "pretrain_updates", "loss",
                                      "dropout", "dropout_inputs", "patience"}}),
          .resolve = resolve_net,
          .make = make_net,
          .train = train_net,
          .read = read_net_model,
          .check = check_net,
          .stages = net_pretraining,
          .size = net_size,
          .products = products,
          .keeps_start = [](const RunConfig& config) { return config.start != "none" || config.pretrain != "none"; },
          .labelled = is_classifier,
          .word_counts = true,
          .binarizes = false,
          .keeps_best = true};
}

}  // namespace

std::unique_ptr<Model> read_net_model(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  if (!header.structure.is_object() || !header.structure.contains("net")) return nullptr;
  return std::make_unique<NetModel>(unpack_net(file, where));
}

Family mlp_family() {
  Family family =
      net_family("mlp", "Feed-forward classifier", "feed-forward classifier; without layers: logistic regression",
                 "harmonium train --data digits --model mlp --layers 100 --dropout 0.2");
  family.own = OwnOptions(ClassifierOptions{});
  family.begin_from =
      BeginFrom{.to = "classifier",
                .help = "the model's layers and a softmax over the classes",
                .complaint =
                    [](const Model& source, const std::string& where) {
                      return complaint_of(source, where, [](const BeliefNet& net) { return unroll_encoder(net.up); });
                    },
                .configure = start_unrolled};
  return family;
}

Family autoencoder_family() {
  Family family = net_family("autoencoder", "Autoencoder", "autoencoder; its last layer is the code",
                             "harmonium train --data digits --model autoencoder --layers 100,30");
  family.options.emplace_back("code");
  family.begin_from =
      BeginFrom{.to = "autoencoder",
                .help = "the model's layers up to a code and down again",
                .complaint =
                    [](const Model& source, const std::string& where) {
                      return complaint_of(source, where, [](const BeliefNet& net) { return unroll_autoencoder(net); });
                    },
                .configure = start_unrolled};
  return family;
}

}  // namespace harmonium
