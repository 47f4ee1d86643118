#include "harmonium/families/machine_training.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "harmonium/core/device.h"
#include "harmonium/core/named_table.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/standardize.h"
#include "harmonium/families/counts_rates.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/classification.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/moved_units.h"
#include "harmonium/models/rare_start.h"
#include "harmonium/training/classification_error.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/monitor.h"
#include "harmonium/training/validation_likelihood.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

BatchOptions batch_options(const RunConfig& config, const RunData& data, std::int64_t batch) {
  return {.batch = batch,
          .binarization = data.binarization,
          .shrink = config.shrink,
          .classes = label_classes(config, data)};
}

Training make_machine_training(const RunConfig& config, const RunData& data, BoltzmannMachine machine,
                               const NamedTensors& chains, const DataInference& inference) {
  const Key key(config.seed);
  BatchStream batches(data.train, batch_options(config, data, config.batch), key.fold_in(run_streams::batches),
                      machine.device());
  auto negative_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  if (!chains.empty()) negative_phase->restore(chains);
  negative_phase = make_objective(config.objective, std::move(negative_phase), config.generative_weight);
  auto metric = make_metric(config.optimizer, machine.topology(), machine.parameters(), metric_options(config));
  return make_training(std::move(machine), std::move(batches), std::move(negative_phase), std::move(metric),
                       step_options(config),
                       {.updates = config.updates,
                        .averaging = config.averaging,
                        .seed = key.fold_in(run_streams::updates).bits(),
                        .patience = config.patience},
                       {.target = config.sparsity_target, .cost = config.sparsity_cost}, inference,
                       config.coordinates == "means" ? Coordinates::means : Coordinates::natural);
}

// What the data are standardized by, where that is asked for.
std::optional<Standardization> standardization(const RunConfig& config, const RunData& data) {
  if (config.scale != "standardize") return std::nullopt;
  return standardization_of(with_noise(data.train, data.binarization, noise_key(config)));
}

// The data as training sees them.
RunData in_training_units(const RunData& data, const std::optional<Standardization>& by) {
  RunData seen = data;
  if (!by) return seen;
  seen.train = standardized(seen.train, *by);
  if (seen.valid.rows() > 0) seen.valid = standardized(seen.valid, *by);
  return seen;
}

// A model of standardized data as one of the data themselves.
void to_units_of_data(TrainedMachine& trained, const Standardization& by) {
  trained.machine = in_units_of(trained.machine, by.mean, by.deviation);
  std::vector<at::Tensor>& moments = trained.data_moments.front();
  const at::Tensor first = moments[0].to(at::kDouble), square = -2 * moments[1].to(at::kDouble);
  const at::Tensor moved = by.mean.square() + 2 * by.mean * by.deviation * first + by.deviation.square() * square;
  moments = {(by.mean + by.deviation * first).to(moments[0].scalar_type()),
             (-0.5 * moved).to(moments[1].scalar_type())};
}

bool chooses_by_labels(const BoltzmannMachine& machine) { return machine.observed().size() == 2; }

// As many annealing steps as cost about 15 % of the training: an update is two products with the weights for each row
// and 2 · sweeps + 1 for each particle, a step is three for each chain.
ValidationLikelihoodOptions validation_options(const RunConfig& config, const DataInference& inference) {
  constexpr double share = 0.15, products_of_a_step = 3;
  ValidationLikelihoodOptions options;
  const auto update = static_cast<double>(2 * config.batch + (2 * config.sweeps + 1) * config.particles);
  options.steps_per_update = std::min(2.0, share * update / (products_of_a_step * static_cast<double>(options.chains)));
  // Models that start with trained layers are far from the base.
  const bool from_trained = config.pretrain != "none" || config.start != "none";
  if (inference.by != DataInference::By::mean_field) {
    options.rows = 200;
    options.row_betas = 50;
  }
  options.first_steps = from_trained ? 1000 : std::clamp<std::int64_t>(config.updates / 20, 20, 500);
  return options;
}

class MachineTrainee final : public Trainee {
 public:
  // `data` in the units of training, `units` those of the data themselves.
  MachineTrainee(const RunConfig& config, const RunData& data, std::optional<Standardization> units,
                 TrainedMachine start, const NamedTensors& chains, const DataInference& inference)
      : Trainee(make_machine_training(config, data, start.machine.to(find_device(config.device)), chains, inference)),
        start_(std::move(start)),
        units_(std::move(units)),
        monitor_(data.train, data.valid, data.binarization, label_classes(config, data),
                 Key(config.seed).fold_in(run_streams::monitor).bits()),
        valid_(config.valid),
        valid_rows_(data.valid.rows()),
        updates_(config.updates) {
    if (config.keep != "best") return;
    // The monitor's few hundred rows would choose by luck.
    if (chooses_by_labels(start_.machine))
      all_valid_.emplace(data.valid, data.binarization);
    else
      likelihood_.emplace(machine_of(training_).with_exact_units(), start_.data_moments, data.valid, data.binarization,
                          validation_options(config, inference),
                          Key(config.seed).fold_in(run_streams::monitor).fold_in(0x11E));
  }

  [[nodiscard]] NamedTensors state() const override {
    NamedTensors all = training_.state();
    if (likelihood_)
      for (auto& entry : likelihood_->state()) all.push_back(std::move(entry));
    return all;
  }
  void restore(std::int64_t update, const NamedTensors& saved) override {
    training_.restore(update, saved);
    if (likelihood_) likelihood_->restore(saved);
  }

  [[nodiscard]] std::map<std::string, double> measure() override {
    const BoltzmannMachine averaged = averaged_machine(training_);
    std::map<std::string, double> metrics = monitor_.measure(averaged);
    if (const auto found = metrics.find("awake_units"); found != metrics.end()) awake_ = found->second;
    if (all_valid_) {
      metrics["classification_error"] = all_valid_->measure(averaged);
      training_.observe_error(metrics["classification_error"]);
    }
    if (likelihood_) {
      ValidationLikelihood::Found found = likelihood_->measure(averaged.with_exact_units(), update());
      if (units_) found.mean -= units_->log_volume();
      last_ = found.trusted ? std::optional(found.mean) : std::nullopt;
      if (found.trusted) metrics["validation_log_likelihood"] = found.mean;
      if (found.effective_samples) metrics["validation_effective_samples"] = *found.effective_samples;
      // The mean log f of training rows less that of validation rows: log Z cancels.
      if (const auto gap = metrics.find("free_energy_gap"); gap != metrics.end()) gap_ = gap->second;
      if (found.trusted && std::isfinite(found.mean)) training_.observe_error(-found.mean);
    }
    metrics.merge(training_.take_measurements());
    return metrics;
  }

  [[nodiscard]] std::unique_ptr<Model> model(const Training::Kept& of) const override {
    TrainedMachine trained = start_;
    trained.machine = machine_of(training_).with_parameters(of.parameters);
    trained.notes["updates"] = std::to_string(of.update);
    if (likelihood_ && !training_.best().empty()) trained.notes["chosen_by"] = valid_;
    if (units_) to_units_of_data(trained, *units_);
    return std::make_unique<MachineModel>(std::move(trained));
  }

  [[nodiscard]] std::vector<std::string> closing_words(const Training::Kept& kept) const override {
    std::vector<std::string> words;
    if (const BestModel& best = training_.best(); likelihood_ && !best.empty())
      words.push_back(chosen_in_words(best) + (last_ ? "" : format(". Later ones were not compared: {}", lost_log_z)));
    else if (likelihood_ && !last_)
      words.push_back(format("kept the last model: none could be chosen by validation data, because {}", lost_log_z));
    else if (!best.empty())
      words.push_back(format("kept the model of update {}: {:.2f} % of the {} validation rows are misclassified",
                             kept.update, 100 * best.error(), valid_rows_));
    if (constexpr double few = 0.5; awake_ && *awake_ < few)
      words.push_back(
          format("{:.0f} % of the units above the first hidden layer are active (awake_units: their means vary across "
                 "rows), so the machine is not as deep as it looks. @pretrain rbm, or @mean_field_steps 1 with "
                 "@initial_weights 0.1, may activate more; the likelihood is not always better for it (docs/deep.md)",
                 100 * *awake_));
    if (coupling_strength(machine_of(training_)) > strongest_coupling - 1e-6)
      words.push_back(
          "the weights between real-valued units were held where Z is still finite: the model would grow without "
          "bounds. A smaller @rate_weights or some @weight_decay keeps it away from there");
    return words;
  }

 private:
  [[nodiscard]] std::string chosen_in_words(const BestModel& best) const {
    std::string words = format("best validation log-likelihood {:.2f} at update {} of {}; kept that model",
                               -best.error(), best.update(), updates_);
    // Noise of the estimate moves the number by a few tenths, and then nothing is lost.
    constexpr double much = 0.5;
    const double fallen = last_ ? -best.error() - *last_ : 0;
    if (gap_ && fallen > much && *gap_ > fallen)
      words +=
          format(". The last one overfits: {:.2f} on validation rows, {:.2f} on training rows", *last_, *last_ + *gap_);
    return words;
  }

  static constexpr const char* lost_log_z =
      "the chains that follow log Z during training were left behind (validation_effective_samples below 25). "
      "@track ais, or an evaluation afterwards, estimates log Z anew; smaller rates are easier to follow";

  TrainedMachine start_;
  std::optional<Standardization> units_;
  Monitor monitor_;
  std::optional<ClassificationError> all_valid_;    // what the best model is chosen by where there are labels,
  std::optional<ValidationLikelihood> likelihood_;  // and where there are none
  std::optional<double> last_, gap_;  // validation log-likelihood when last measured; training rows above it
  std::string valid_;
  std::int64_t valid_rows_ = 0, updates_ = 0;
  std::optional<double> awake_;  // of a deep machine, when it was last measured: the share of upper units
};

// Natural gradients: a step of size r along the noise of `rows` rows moves the model by about r² · weights / (2 rows)
// nats. This much was good for MNIST with 500 hidden units at 100 rows (0.005) and at 2000 (0.03), and gives small
// machines larger steps: digits, 100 hidden units, 3000 updates, validation rows: −23.00 nats at 0.0167, −22.47 at
// 0.05.
// The chains of very small ones freeze at such rates, unless they are tempered or not needed.
// Tempered chains follow longer steps: shifter, 16 hidden units, 3000 updates, validation rows, two seeds: −8.82 and
// −8.56 nats at 0.06, −8.13 and −8.11 at 0.1; bars and a random teacher the same at both, digits −23.07 and −23.16.
constexpr double good_noise = 0.07, largest_natural_rate = 0.06, largest_tempered_rate = 0.1, very_small = 4096;

bool is_tempered(const RunConfig& config) { return config.gradient == "pt" || config.gradient == "tempered"; }

bool chains_keep_up(const RunConfig& config, double weights) {
  return weights > very_small || is_tempered(config) || config.gradient == "exact";
}

// Default rates are for a hundred rows and chains and ten thousand updates. Shorter runs take longer steps, up to what
// was good with 2000 rows and chains: 0.3 and 0.03 for fang, 0.3 for centering. MNIST, 100 hidden units, 1200 updates
// of 100 rows, validation rows: −123 nats at 0.005, −109 at 0.015, −105 at 0.03.
Rates usual_rates(const RunConfig& config) {
  if (config.objective != "generative" || config.layers != "none")
    return default_rates(config.optimizer, config.objective);
  const std::int64_t particles = config.particles > 0 ? config.particles : config.batch;
  const Rates rates = scaled_rates(config.optimizer, config.objective, config.batch, particles);
  constexpr double usual_updates = 10'000, usual_rows = 100, most_natural = 6, most = 3;
  const bool natural = config.optimizer != "sgd" && config.optimizer != "centering" && config.optimizer != "enhanced" &&
                       config.optimizer != "diagonal";
  const auto rows = static_cast<double>(std::min(config.batch, particles));
  const double averaged = std::sqrt(rows / usual_rows);
  const double room = std::max(1.0, (natural ? most_natural : most) / std::max(1.0, averaged));
  double haste = std::clamp(usual_updates / static_cast<double>(std::max<std::int64_t>(1, config.updates)), 1.0, room);
  if (natural && make_unit(config.visible)->support() == Unit::Support::bits) {
    const double weights = find_family(config.model).size(config).weights;
    const double by_noise = std::min(std::sqrt(2 * good_noise * rows / std::max(1.0, weights)),
                                     is_tempered(config) ? largest_tempered_rate : largest_natural_rate);
    if (chains_keep_up(config, weights)) haste = std::max(haste, by_noise / rates.weights);
  }
  return {.bias = rates.bias * haste, .weights = rates.weights * haste};
}

void check_keep_best(const BoltzmannMachine& machine, const RunConfig& config, const RunData& data) {
  require(
      !machine.unit(machine.observed().front()).wants_own_state() || chooses_by_labels(machine),
      "@keep best chooses by the log-likelihood of validation data, and that of word counts depends on lengths; use "
      "@keep last");
  require_validation_data(data);
  require(!chooses_by_labels(machine) || data.valid.labels.defined(), "@keep best: validation data {} have no labels",
          config.valid);
}

}  // namespace

void check_unit(const char* option, const std::string& given, const std::string& spec) {
  try {
    (void)make_unit(spec);
  } catch (const Error& error) {
    fail("{} {}: {}", option, given, error.marked());
  }
}

std::vector<std::string> chain_specs(const RunConfig& config) {
  std::vector<std::string> specs = {config.visible};
  std::istringstream text(config.layers);
  for (std::string item; std::getline(text, item, ',');) specs.push_back(hidden_spec(item));
  return specs;
}

bool has_label_layer(const RunConfig& config) { return config.model == "classification_rbm" || config.labels == "top"; }

std::int64_t label_classes(const RunConfig& config, const RunData& data) {
  if (!has_label_layer(config)) return 0;
  require(data.train.labels.defined(), "{}: {} needs labels, and the data have none", data.train.name,
          config.labels == "top" ? "@labels top" : "a classification_rbm");
  return data.classes > 0 ? data.classes : data.train.labels.max().item<std::int64_t>() + 1;
}

void require_validation_data(const RunData& data) {
  require(data.valid.rows() > 0,
          "@keep best chooses by validation data, and there are none: give @valid, or train on a part that leaves "
          "some aside (such as mnist:fit)");
}

void check_values(const Dataset& data, const Unit& visible) {
  constexpr std::int64_t rows_at_once = 20'000;  // as floats the whole table may not fit in memory
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    at::Tensor values = data.slice(first, std::min(first + rows_at_once, data.rows())).to_float();
    if (data.missing > 0) values.nan_to_num_(0);
    const std::string complaint = visible.complaint(values);
    require(complaint.empty(), "{}{}: {}. Use @visible gaussian for real values, or scale the data", data.name,
            first == 0 ? "" : format(", counted from row {}", first), complaint);
  }
}

TrainedMachine initialized_machine(BoltzmannMachine machine, const RunConfig& config, const RunData& given) {
  const RunData data = in_training_units(given, standardization(config, given));
  const std::int64_t classes = label_classes(config, data);
  TrainedMachine model{std::move(machine)};
  const Unit& visible = model.machine.unit(0);
  require(visible.width() == data.train.columns(), "{} has {} columns, but @visible {} asks for {}", data.train.name,
          data.train.columns(), config.visible, visible.width());
  // Averages of the gray values are the expected averages of their binary draws.
  constexpr std::int64_t enough_rows = 20'000;
  const Dataset learnt = with_noise(data.train, data.binarization, noise_key(config));
  const at::Tensor sample = complete_rows(learnt.first(enough_rows)).to_float();
  check_values(data.train, visible);
  if (data.valid.rows() > 0) {
    require(data.valid.columns() == data.train.columns(),
            "validation data {} have {} columns, training data {} have {}", data.valid.name, data.valid.columns(),
            data.train.name, data.train.columns());
    check_values(data.valid, visible);
  }
  model.data_moments.push_back(visible.moments(sample, {}));
  if (visible.parameter_names().size() == 1) model.data_moments[0][0] = learnt.column_means().to(at::kFloat);
  if (classes > 0) model.data_moments.push_back({at::one_hot(data.train.labels, classes).to(at::kFloat).mean(0)});
  const Key key = Key(config.seed).fold_in(run_streams::initial);
  initialize(model.machine, key, config.initial_weights, model.data_moments);
  if (has_rare_start(model.machine)) start_rare(model.machine, key, config.initial_weights);
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

void resolve_machine(RunConfig& config, RunData& data) {
  const bool counts = unit_type(config.visible).support == Unit::Support::counts;
  if (config.gradient == "auto") config.gradient = counts ? "cd" : "pcd";
  // Means without noise, or no chains at all, say nothing about the covariances that fang looks at; moments of the
  // model itself (exact) do.
  const auto phase = make_negative_phase(config.gradient, {});
  const bool shows_covariances = phase->has_particles() || !phase->paired_with_batch();
  if (config.optimizer == "auto")
    config.optimizer = config.objective == "generative" && shows_covariances && !counts ? "fang" : "centering";
  (void)find_metric(config.optimizer);  // a wrong name shows here
  if (config.hidden != "none") check_unit("@hidden", config.hidden, hidden_spec(config.hidden));
  if (config.layers != "none")
    for (const std::string& spec : chain_specs(config)) check_unit("@layers", config.layers, spec);
  if (config.rate_bias == 0 || config.rate_weights == 0) {
    const Rates rates = counts ? counts_rates(mean_length(data.train), config.hidden) : usual_rates(config);
    if (config.rate_bias == 0) config.rate_bias = rates.bias;
    if (config.rate_weights == 0) config.rate_weights = rates.weights;
  }
  if (config.particles == 0) config.particles = config.batch;
  if (config.initial_weights == 0) config.initial_weights = 0.01;
}

void check_machine(const BoltzmannMachine& machine, const RunConfig& config, const RunData& data) {
  const std::string inner = complaint_about_inner_edges(machine);
  require(config.mean_field_steps == 0 || inner.empty(), "@mean_field_steps {} {}; leave it out",
          config.mean_field_steps, inner);
  const auto phase = make_negative_phase(config.gradient, negative_phase_options(config));
  const std::string complaint = phase->complaint(machine);
  require(complaint.empty(), "@gradient {} {}; use one of: {}", config.gradient, complaint,
          negative_phases_for(machine));
  if (!inner.empty()) {
    using InnerEdges = MetricType::InnerEdges;
    const auto knows = [&](const MetricType& type) {
      return type.inner_edges == InnerEdges::yes ||
             (type.inner_edges == InnerEdges::from_chains && phase->has_particles());
    };
    const MetricType& metric = find_metric(config.optimizer);
    require(knows(metric),
            "@optimizer {} does not handle edges inside a layer{}, and @model {} has them; use one of: {}",
            config.optimizer,
            metric.inner_edges == InnerEdges::from_chains
                ? format(" without chains (@gradient {} has none)", config.gradient)
                : "",
            config.model, names_of(metrics(), knows));
  }
  if (config.objective != "generative") (void)label_layer(machine);
  require(config.objective != "discriminative" ||
              !make_metric(config.optimizer, machine.topology(), machine.parameters())->wants_statistics(),
          "@optimizer {} looks at chains, and @objective discriminative has none; use @optimizer centering or sgd",
          config.optimizer);
  if (config.keep == "best") check_keep_best(machine, config, data);
  require(config.patience == 0 || config.keep == "best",
          "@patience stops where validation data get no better, and nothing is kept by them: add @valid, or @keep "
          "best");
}

std::unique_ptr<Trainee> train_machine(const RunConfig& config, const RunData& data, const TrainedMachine& start,
                                       const NamedTensors& chains, const DataInference& inference) {
  std::optional<Standardization> units = standardization(config, data);
  const RunData seen = in_training_units(data, units);
  return std::make_unique<MachineTrainee>(config, seen, std::move(units), start, chains, inference);
}

void learn_from(Trainee& trainee, const RunConfig& config, const RunData& data) {
  require(config.scale != "standardize",
          "@scale standardize needs all rows at once; batches that come one by one must be standardized before");
  // A key of its own: the same numbers would choose the same bits in batch after batch.
  const Key key = Key(config.seed).fold_in(run_streams::batches).fold_in(static_cast<std::uint64_t>(trainee.update()));
  trainee.training().learn_from(BatchStream(data.train, batch_options(config, data, data.train.rows()), key,
                                            machine_of(trainee.training()).device()));
}

}  // namespace harmonium
