#include "harmonium/experiments/annealing_subject.h"

#include "harmonium/core/error.h"
#include "harmonium/data/average_blocks.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/far_modes.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

constexpr std::uint64_t binarization_seed = 0;  // that of `evaluate`

void require_enumerable(const BoltzmannMachine& machine) {
  require(
      can_enumerate(machine),
      "the exact value is found by enumeration, and the model has too many units for that: one side may have at most "
      "{} binary units",
      enumeration_bits);
}

// Pictures with blocks of pixels averaged before they are binarized.
void take_smaller_pictures(AnnealingSubject& subject, const AnnealingExperiment& experiment) {
  const BoltzmannMachine& machine = subject.model.machine;
  const Dataset gray =
      average_blocks(open_dataset(experiment.data, {.limit = experiment.limit}), experiment.shrink_images);
  require(gray.columns() == machine.unit(0).width(),
          "{} averaged by {} × {} has {} columns, the model has {} visible units", experiment.data,
          experiment.shrink_images, experiment.shrink_images, gray.columns(), machine.unit(0).width());
  const Binarization how =
      experiment.binarize == "auto" ? Binarization::stochastic : parse_binarization(experiment.binarize);
  const Dataset bits = binarize(gray, how, binarization_seed);
  require_binary(bits);
  subject.rows = machine.observe({bits.to_float()});
  subject.data =
      format("{} rows of {}, means of {} × {} pixels, {}", bits.rows(), experiment.data, experiment.shrink_images,
             experiment.shrink_images,
             how == Binarization::stochastic ? format("stochastic (seed {})", binarization_seed) : to_string(how));
}

void take_rows(AnnealingSubject& subject, const AnnealingExperiment& experiment) {
  const BoltzmannMachine& machine = subject.model.machine;
  if (experiment.data.empty()) {
    const State drawn = exact_sample(machine, Key(experiment.seed).fold_in(0xD2A3), experiment.rows);
    std::vector<at::Tensor> values;
    for (const std::size_t layer : machine.observed()) values.push_back(drawn.layers[layer]);
    subject.rows = machine.observe(values);
    subject.data = format("{} rows drawn exactly from the model", experiment.rows);
    return;
  }
  if (experiment.shrink_images > 1) return take_smaller_pictures(subject, experiment);
  const TestData test = open_test_data({experiment.data, experiment.limit},
                                       {.binarize = experiment.binarize, .seed = binarization_seed}, machine.unit(0));
  subject.rows = observed_state(machine, test.rows, test.spec);
  subject.data = format("{} rows of {}, {}", test.rows.rows(), experiment.data, test.binarization);
}

std::optional<TrainedMachine> trained_model(const AnnealingExperiment& experiment, const ReproduceOptions& options) {
  RunConfig config = *experiment.train;
  keep_last_unless_told(config);
  const RunData data = resolve(config);
  check_config(config, data);
  const std::filesystem::path folder = options.out / "model";
  if (!is_trained(folder, config)) {
    const std::unique_ptr<Model> initial = find_family(config.model).make(config, data, {});
    require(initial->machine() != nullptr, "an annealing experiment needs a Boltzmann machine, not a {}", config.model);
    AnnealingSubject rehearsal{*initial->machine(), {}, {}, {}};
    // What is wrong shows before the first update.
    require_enumerable(rehearsal.model.machine);
    if (!experiment.data.empty()) take_rows(rehearsal, experiment);
    if (!train_with_bar(folder, config, data, options.common, "training").finished) return std::nullopt;
  }
  return read_machine(folder);
}

std::string layers_in_words(const BoltzmannMachine& machine) {
  std::string words;
  for (const Layer& layer : machine.layers())
    words += (words.empty() ? "" : ", ") + format("{} {}", layer.unit->width(), layer.name);
  return words + " units";
}

}  // namespace

BaseModel AnnealingSubject::base(const AnnealingExperiment& experiment) const {
  const BoltzmannMachine& machine = model.machine;
  if (experiment.base == "uniform") return uniform_base(machine);
  if (!model.data_moments.empty())
    return {machine.with_parameters(base_rate_parameters(machine, model.data_moments)), "base rates"};
  std::vector<std::vector<at::Tensor>> moments;
  for (const std::size_t layer : machine.observed())
    moments.push_back(machine.unit(layer).moments(rows.layers[layer], {}));
  return {machine.with_parameters(base_rate_parameters(machine, moments)), "base rates of the rows"};
}

std::optional<AnnealingSubject> open_subject(const AnnealingExperiment& experiment, const ReproduceOptions& options) {
  std::optional<TrainedMachine> model;
  std::string description;
  if (experiment.train) {
    model = trained_model(experiment, options);
    if (!model) return std::nullopt;
    description = format("trained on {} by {}", experiment.train->data, experiment.train->gradient);
  } else if (!experiment.machine.empty()) {
    model = TrainedMachine{.machine = make_far_modes({.seed = experiment.seed})};
    description = experiment.machine;
  } else {
    model = read_machine(find_experiment_model(experiment.model));
    description = experiment.model;
  }
  require_enumerable(model->machine);
  description = format("{}: {}", description, layers_in_words(model->machine));
  AnnealingSubject subject{std::move(*model), {}, description, {}};
  take_rows(subject, experiment);
  return subject;
}

}  // namespace harmonium
