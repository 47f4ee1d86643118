// The families mlp and autoencoder: feed-forward nets, from random weights, from layers that are pretrained one by one,
// or from a trained model that is unrolled (the option start).
#include <algorithm>
#include <sstream>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/net_model.h"
#include "harmonium/families/net_pretraining.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/unrolling.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

namespace groups = option_groups;

bool is_classifier(const RunConfig& config) { return config.model == "mlp"; }
bool takes_counts(const RunConfig& config) { return config.visible.starts_with("counts"); }

Activation output_of(const RunConfig& config) {
  if (takes_counts(config)) return Activation::softmax;
  return config.visible.starts_with("gaussian") ? Activation::linear : Activation::logistic;
}

std::vector<std::int64_t> parse_widths(const std::string& layers) {
  std::vector<std::int64_t> widths;
  if (layers == "none") return widths;
  std::istringstream text(layers);
  for (std::string item; std::getline(text, item, ',');) {
    constexpr std::size_t most_digits = 7;
    require(!item.empty() && item.find_first_not_of("0123456789") == std::string::npos && item.size() <= most_digits &&
                std::stoll(item) > 0,
            "@layers {}: '{}' is not a number of units; a net takes numbers from the input up, such as 500,250", layers,
            item);
    widths.push_back(std::stoll(item));
  }
  require(!widths.empty(), "@layers is empty; give numbers of units such as 500,250, or none");
  return widths;
}

std::string widths_text(const MachineStack& stack) {
  std::string text;
  for (const BoltzmannMachine& machine : stack)
    text += format("{}{}", text.empty() ? "" : ",", machine.unit(machine.hidden().front()).width());
  return text;
}

std::int64_t count_classes(const RunConfig& config, const RunData& data) {
  require(data.train.labels.defined(),
          "{}: a classifier needs labels, and the data have none (for a text table: @label_column first or last)",
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
  constexpr std::int64_t rows_at_once = 20'000;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::string complaint =
        unit->complaint(data.slice(first, std::min(first + rows_at_once, data.rows())).to_float());
    require(complaint.empty(), "{}{}: {}. Use @visible gaussian for real values, or scale the data", data.name,
            first == 0 ? "" : format(", counted from row {}", first), complaint);
  }
}

Training make_net_training(const RunConfig& config, const RunData& data, const FeedForward& net) {
  const Key key(config.seed);
  BatchStream batches(data.train,
                      {.batch = config.batch,
                       .binarization = data.binarization,
                       .shrink = config.shrink,
                       .classes = is_classifier(config) ? net.outputs() : 0},
                      key.fold_in(run_streams::batches), net.bias(0).device());
  return make_training(
      net, std::move(batches),
      {.loss = parse_loss(config.loss), .dropout = {.inputs = config.dropout_inputs, .hidden = config.dropout}},
      config.optimizer, step_options(config),
      {.updates = config.updates,
       .averaging = config.averaging,
       .seed = key.fold_in(run_streams::updates).bits(),
       .patience = config.patience});
}

class NetTrainee final : public Trainee {
 public:
  NetTrainee(const RunConfig& config, const RunData& data, TrainedNet start)
      : Trainee(make_net_training(config, data, start.net.to(at::TensorOptions().device(find_device(config.device))))),
        config_(config),
        data_(data),
        start_(std::move(start)) {}

  [[nodiscard]] std::map<std::string, double> measure() override {
    constexpr std::int64_t watched_rows = 2000;  // of the training data, where there are no others
    const bool valid = data_.valid.rows() > 0;
    const NetErrors errors =
        net_errors(start_.net.with_parameters(training_.averaged()),
                   valid ? data_.valid : data_.train.first(watched_rows), data_.binarization, parse_loss(config_.loss));
    std::map<std::string, double> metrics = training_.take_measurements();
    if (valid) metrics["validation_loss"] = errors.loss;
    if (errors.misclassified) metrics["classification_error"] = *errors.misclassified;
    if (errors.squared) metrics["reconstruction_error"] = *errors.squared;
    if (errors.perplexity) metrics["perplexity"] = *errors.perplexity;
    if (config_.keep == "best") training_.observe_error(errors.misclassified.value_or(errors.loss));
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    TrainedNet trained = start_;
    trained.net = trained.net.with_parameters(of.parameters);
    trained.notes["updates"] = std::to_string(of.update);
    if (!training_.best().empty()) trained.notes["chosen_by"] = config_.valid;
    return std::make_unique<NetModel>(std::move(trained));
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    std::vector<std::string> words;
    if (update() < config_.updates)
      words.push_back(format("stopped after update {}: no new best for {} updates", update(), config_.patience));
    if (const BestModel& best = training_.best(); !best.empty())
      words.push_back(is_classifier(config_)
                          ? format("kept the net of update {}: {:.2f} % of the {} validation rows are misclassified",
                                   kept.update, 100 * best.error(), data_.valid.rows())
                          : format("kept the net of update {}: loss {:.4f} on {} validation rows", kept.update,
                                   best.error(), data_.valid.rows()));
    return words;
  }

 private:
  RunConfig config_;
  RunData data_;
  TrainedNet start_;
};

BeliefNet read_belief_net(const std::filesystem::path& path) {
  const std::unique_ptr<Model> model = open_model(path);
  if (const auto* net = dynamic_cast<const BeliefNetModel*>(model.get())) return net->net();
  require(model->machine() != nullptr, "{} is a {}, not a Boltzmann machine or a belief net to unroll", path.string(),
          model->title());
  const BoltzmannMachine& machine = model->machine()->machine;
  const bool labelled = machine.observed().size() == 2;  // a classification RBM
  try {
    MachineStack stack = labelled ? MachineStack{machine} : stack_of_chain(machine);
    require_stack(stack);
    return stack;
  } catch (const Error& error) {
    fail("{} cannot be unrolled: {}", path.string(), error.marked());
  }
}

void resolve_net(RunConfig& config, RunData&) {
  config.hidden = "none";
  if (config.gradient == "auto") config.gradient = "pcd";  // of layers that are pretrained as RBMs
  require(config.start == "none" || config.activation == "auto" || config.layers != "none",
          "@activation {}: a net that starts from a trained model has the activations of its units", config.activation);
  if (config.start != "none" && config.layers == "none") config.layers = widths_text(read_belief_net(config.start).up);
  (void)parse_widths(config.layers);
  require(is_classifier(config) || config.layers != "none",
          "@model autoencoder needs @layers: numbers of units from the data to the code, such as 500,250,30");
  (void)parse_activation(config.code);
  require(config.code == "linear" || !is_classifier(config), "@code {}: a classifier has no code", config.code);
  resolve_pretraining(config);
  if (config.activation == "auto") config.activation = config.start == "none" ? "relu" : "logistic";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be logistic, relu or linear");
  const bool real = config.visible.starts_with("gaussian");
  require(is_classifier(config) || real || takes_counts(config) || config.visible.starts_with("bernoulli"),
          "@visible {}: an autoencoder gives back bernoulli or gaussian values, or word counts", config.visible);
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
  require(config.optimizer == "adam" || config.optimizer == "sgd",
          "@optimizer {}: nets are trained by adam or sgd (with @momentum)", config.optimizer);
  // Layers of logistic units move slowly: begun with RBMs, 784-500-500 mistakes 3.7, 2.5 and 2.2 % of MNIST after 3000
  // updates of adam with 0.001, 0.003 and 0.01. Losses of reconstructions are sums over all pixels, and so are their
  // gradients.
  const double adam_rate = config.activation == "logistic" ? 0.01 : 0.001;
  const double usual_rate = config.optimizer == "adam" ? adam_rate : is_classifier(config) ? 0.1 : 0.002;
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
  const std::vector<std::int64_t> widths = parse_widths(config.layers);
  const Key key = Key(config.seed).fold_in(run_streams::initial);
  const Activation hidden = parse_activation(config.activation);
  TrainedNet model{.net = is_classifier(config) ? make_classifier(inputs, widths, classes, hidden)
                                                : make_autoencoder(inputs, widths, hidden, output_of(config),
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
    model.net = is_classifier(config) ? unroll_classifier(stack, classes, key) : unroll_autoencoder(source);
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
  require(config.keep != "best" || data.valid.rows() > 0,
          "@keep best chooses by validation data, and there are none: give @valid, or train on a part that leaves "
          "some aside (such as mnist:fit)");
  return std::make_unique<NetTrainee>(config, data, dynamic_cast<const NetModel&>(start).trained());
}

void check_net(const RunConfig& config, const RunData& data) {
  (void)train_net(config, data, *make_net(config, data, {}));
  check_pretraining(config, data);
}

double products(const RunConfig& config) {
  double weights = 0;
  std::int64_t below = make_unit(config.visible)->width();
  for (const std::int64_t width : parse_widths(config.layers)) {
    weights += static_cast<double>(below) * static_cast<double>(width);
    below = width;
  }
  return 3 * static_cast<double>(config.batch) * weights * (is_classifier(config) ? 1 : 2);
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
  return net_family("mlp", "Feed-forward classifier", "feed-forward classifier; without layers: logistic regression",
                    "harmonium train --data digits --model mlp --layers 100 --dropout 0.2");
}

Family autoencoder_family() {
  Family family = net_family("autoencoder", "Autoencoder", "autoencoder; its last layer is the code",
                             "harmonium train --data digits --model autoencoder --layers 100,30");
  family.options.emplace_back("code");
  return family;
}

}  // namespace harmonium
