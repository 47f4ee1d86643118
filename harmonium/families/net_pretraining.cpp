#include "harmonium/families/net_pretraining.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/families/belief_net_stages.h"
#include "harmonium/families/counts_rates.h"
#include "harmonium/families/deep_machine_family.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/net_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/unrolling.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

// What all stages have in common: the run's data, seed and batches, and no pretraining of their own.
RunConfig common_stage(const RunConfig& config) {
  RunConfig result = config;
  result.pretrain = "none";
  result.pretrain_updates = 0;
  result.start = "none";
  result.updates = config.pretrain_updates;
  result.patience = 0;
  result.own = {};
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 20);
  return result;
}

// A belief net with a layer for each of the net's. The code of an autoencoder is linear, its units Gaussian.
RunConfig belief_net_config(const RunConfig& config, const RunData& data) {
  RunConfig result = common_stage(config);
  result.model = "dbn";
  if (config.model == "autoencoder") {
    const std::size_t last = config.layers.rfind(',') == std::string::npos ? 0 : config.layers.rfind(',') + 1;
    result.layers = config.layers.substr(0, last) + "gaussian:" + config.layers.substr(last);
  }
  learn_layers_soon(result);
  result.keep = "last";
  if (config.binarize == "none" && unit_type(config.visible).support == Unit::Support::bits && !data.train.is_binary())
    result.binarize = "stochastic";
  return result;
}

// A deep Boltzmann machine of all hidden layers, which begins with RBMs itself. Natural gradients need many chains.
RunConfig deep_machine_config(const RunConfig& config, const RunData& data) {
  RunConfig result = belief_net_config(config, data);
  constexpr std::int64_t fewest_chains = 1000;
  result.model = "dbm";
  result.pretrain = "rbm";
  result.pretrain_updates = config.pretrain_updates;
  result.updates = std::max<std::int64_t>(1, config.pretrain_updates / 2);
  const Rates rates = joint_rates(result);
  result.rate_bias = rates.bias;
  result.rate_weights = rates.weights;
  result.batch = result.particles = std::max(config.batch, fewest_chains);
  return result;
}

// Upper stages learn from means as they are. Natural gradients take Gaussian hidden units too far too fast, and so do
// chains that wander off with them.
RunConfig machine_config(const RunConfig& stack, std::size_t stage, const RunData& data) {
  RunConfig result = stage_config(stack, stage);
  if (unit_type(result.visible).support == Unit::Support::counts) {
    result.gradient = "cd";
    result.optimizer = "centering";
    result.rate_bias = result.rate_weights = counts_rates(mean_length(data.train), result.hidden).weights;
    return result;
  }
  if (unit_type(result.hidden).support != Unit::Support::reals) return result;
  constexpr double small_rate = 0.01;
  result.gradient = "cd";
  result.optimizer = "centering";
  result.rate_bias = result.rate_weights = small_rate;
  return result;
}

// Whether layers are learnt as machines, one by one or all at once.
bool learns_machines(const RunConfig& config) { return config.pretrain == "rbm" || config.pretrain == "dbm"; }

RunConfig machines_config(const RunConfig& config, const RunData& data) {
  return config.pretrain == "dbm" ? deep_machine_config(config, data) : belief_net_config(config, data);
}

RunData belief_net_data(const RunConfig& config, const RunData& data) {
  return {.train = data.train, .valid = data.valid, .binarization = parse_binarization(config.binarize)};
}

// The run's rates are those of a classifier's loss. A loss of reconstructions is a sum over all inputs, so its gradient
// is larger by their number, and steps of that size leave every unit saturated.
void learn_reconstructions(RunConfig& config) {
  // MNIST, 784-500-500-500 of logistic units, 3000 updates a layer, then SGD: 2.18 % of validation images are
  // misclassified after layers learnt at 0.001, 2.32 % at 0.003.
  config.optimizer = "adam";
  config.rate_weights = config.rate_bias = 0.001;
  config.momentum = 0;
}

// A net with one hidden layer on what the layers below put out.
RunConfig single_layer_config(const RunConfig& config, std::size_t stage) {
  const std::vector<std::string> widths = split_layers(config.layers);
  RunConfig result = common_stage(config);
  result.model = config.pretrain == "autoencoder" ? "autoencoder" : "mlp";
  result.layers = widths.at(stage);
  result.seed = Key(config.seed).fold_in(stage).bits() >> 1;
  if (config.pretrain == "autoencoder") {
    result.code = config.activation;
    // A layer's values can be given back as probabilities where they lie between 0 and 1.
    if (stage > 0)
      result.visible = format("{}:{}", config.activation == "logistic" ? "bernoulli" : "gaussian", widths[stage - 1]);
    result.loss = unit_type(result.visible).support == Unit::Support::bits ? "bernoulli" : "squared";
    learn_reconstructions(result);
  }
  if (stage > 0) {
    result.binarize = "none";
    result.shrink = 0;
    result.dropout_inputs = config.dropout;
  }
  return result;
}

void copy_layer(FeedForward& net, std::size_t place, const FeedForward& source, std::size_t from) {
  at::Tensor(net.weights(place)).copy_(source.weights(from));
  at::Tensor(net.bias(place)).copy_(source.bias(from));
}

}  // namespace

void resolve_pretraining(RunConfig& config) {
  const std::vector<std::string> ways = {"none", "rbm", "dbm", "autoencoder", "supervised"};
  require(std::ranges::find(ways, config.pretrain) != ways.end(),
          "@pretrain {}: there are none, rbm, dbm, autoencoder and supervised", config.pretrain);
  require(config.pretrain_updates >= 0, "@pretrain_updates must not be negative, and is {}", config.pretrain_updates);
  if (config.pretrain == "none") {
    require(config.pretrain_updates == 0, "@pretrain_updates {} without @pretrain", config.pretrain_updates);
    return;
  }
  require(config.start == "none", "@pretrain {} and @start {}: a net begins with one or the other", config.pretrain,
          config.start);
  require(config.layers != "none", "@pretrain {}: there are no hidden layers to learn; give @layers", config.pretrain);
  require(config.model == "mlp" || config.pretrain == "rbm",
          "@pretrain {} is for @model mlp; an autoencoder is pretrained by rbm", config.pretrain);
  if (learns_machines(config)) {
    require(config.activation == "auto" || config.activation == "logistic",
            "@pretrain {} gives logistic layers, and @activation {} asks for others", config.pretrain,
            config.activation);
    config.activation = "logistic";
    require(config.code == "linear", "@pretrain rbm gives a linear code, and @code {} asks for another", config.code);
  }
  if (config.pretrain_updates == 0) config.pretrain_updates = config.updates;
}

void check_pretraining(const RunConfig& config, const RunData& data) {
  if (!learns_machines(config)) return;
  RunConfig stack = machines_config(config, data);
  if (unit_type(stack.visible).support == Unit::Support::counts) {  // as machine_config() trains the first of them
    stack.gradient = "cd";
    stack.optimizer = "centering";
  }
  const Family& family = find_family(stack.model);
  const RunData seen = belief_net_data(stack, data);
  if (family.check != nullptr)
    family.check(stack, seen);
  else
    (void)family.train(stack, seen, *family.make(stack, seen, {}));
}

std::optional<Stages> net_pretraining(const RunConfig& config, const RunData& data) {
  if (config.pretrain == "none") return std::nullopt;
  const bool machines = learns_machines(config), together = config.pretrain == "dbm";
  const RunConfig stack = machines ? machines_config(config, data) : config;
  return Stages{.count = together ? 1 : split_layers(config.layers).size(),
                .place = [](std::size_t stage) { return format("pretraining/layer-{}", stage + 1); },
                .config =
                    [=](std::size_t stage) {
                      if (together) return stack;
                      return machines ? machine_config(stack, stage, data) : single_layer_config(config, stage);
                    },
                .encode =
                    [=](const Model& model, const RunData& seen) {
                      if (machines) return encode_data(model.machine()->machine, seen);
                      return encode_data(dynamic_cast<const NetModel&>(model).net(), seen);
                    },
                .data = machines ? belief_net_data(stack, data) : data,
                .updates = config.pretrain_updates,
                .done = format("the layers are learnt ({}); now all of them together", config.pretrain)};
}

void take_pretrained(FeedForward& net, const RunConfig& config, const RunData& data, const StageModels& stages) {
  if (!learns_machines(config)) {
    for (std::size_t i = 0; i < stages.size(); ++i)
      copy_layer(net, i, dynamic_cast<const NetModel&>(*stages[i]).net(), 0);
    return;
  }
  MachineStack trained;
  for (const auto& each : stages) trained.push_back(each->machine()->machine);
  if (config.pretrain == "dbm") trained = stack_of_chain(trained.front());
  const FeedForward source = config.model == "mlp" ? unroll_encoder(trained) : unroll_autoencoder(trained);
  for (std::size_t i = 0; i < source.layers().size(); ++i) copy_layer(net, i, source, i);
  if (net.input_form() == InputForm::shares) take_shares(net, mean_length(data.train));
}

}  // namespace harmonium
