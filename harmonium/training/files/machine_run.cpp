#include "harmonium/training/files/machine_run.h"

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/training/files/snapshots.h"

namespace harmonium {

namespace {

BatchOptions batch_options(const RunConfig& config, const RunData& data, std::int64_t batch) {
  return {.batch = batch,
          .binarization = data.binarization,
          .shrink = config.shrink,
          .classes = label_classes(config, data)};
}

}  // namespace

std::int64_t label_classes(const RunConfig& config, const RunData& data) {
  if (!knows_labels(config)) return 0;
  require(data.train.labels.defined(), "{}: {} needs labels, and the data have none", data.train.name,
          config.labels == "top" ? "--labels top" : "a classification_rbm");
  return data.classes > 0 ? data.classes : data.train.labels.max().item<std::int64_t>() + 1;
}

Training make_machine_training(const RunConfig& config, const RunData& data, BoltzmannMachine machine,
                               const NamedTensors& chains) {
  const Key key(config.seed);
  BatchStream batches(data.train, batch_options(config, data, config.batch), key.fold_in(run_streams::batches),
                      machine.device());
  auto negative_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  if (!chains.empty()) negative_phase->restore(chains);
  negative_phase = make_objective(config.objective, std::move(negative_phase), config.generative_weight);
  auto metric = make_metric(config.optimizer, machine.topology(), machine.parameters(), metric_options(config));
  return make_training(
      std::move(machine), std::move(batches), std::move(negative_phase), std::move(metric), step_options(config),
      {.updates = config.updates, .averaging = config.averaging, .seed = key.fold_in(run_streams::updates).bits()},
      {.target = config.sparsity_target, .cost = config.sparsity_cost});
}

MachineRun::MachineRun(const RunConfig& config, const RunData& data, Model model, const NamedTensors& chains)
    : Trainee(make_machine_training(config, data, model.machine.to(find_device(config.device)), chains)),
      model_(std::move(model)),
      monitor_(data.train, data.valid, data.binarization, label_classes(config, data),
               Key(config.seed).fold_in(run_streams::monitor).bits()) {
  // The monitor's few hundred rows would choose by luck.
  if (config.keep == "best") all_valid_.emplace(data.valid, data.binarization);
  valid_rows_ = data.valid.rows();
}

std::map<std::string, double> MachineRun::measure() {
  const BoltzmannMachine averaged = averaged_machine(training_);
  std::map<std::string, double> metrics = monitor_.measure(averaged);
  if (const auto found = metrics.find("awake_units"); found != metrics.end()) awake_ = found->second;
  if (all_valid_) {
    metrics["classification_error"] = all_valid_->measure(averaged);
    training_.observe_error(metrics["classification_error"]);
  }
  metrics.merge(training_.take_measurements());
  return metrics;
}

void MachineRun::learn_from(const RunConfig& config, const RunData& data) {
  // A key of its own: the same numbers would choose the same bits in batch after batch.
  const Key key = Key(config.seed).fold_in(run_streams::batches).fold_in(static_cast<std::uint64_t>(update()));
  training_.learn_from(
      BatchStream(data.train, batch_options(config, data, data.train.rows()), key, machine_of(training_).device()));
}

Model MachineRun::current() const {
  Model model = model_;
  model.machine = averaged_machine(training_);
  model.notes["updates"] = std::to_string(update());
  return model;
}

std::pair<Model, std::int64_t> MachineRun::kept() const {
  Model model = model_;
  Training::Kept kept = training_.kept();
  model.machine = machine_of(training_).with_parameters(std::move(kept.parameters));
  model.notes["updates"] = std::to_string(kept.update);
  return {std::move(model), kept.update};
}

std::filesystem::path MachineRun::keep_snapshot(const std::filesystem::path& folder, double seconds) {
  Model snapshot = model_;
  snapshot.machine = averaged_machine(training_);
  return write_snapshot(folder, snapshot, update(), seconds);
}

std::int64_t MachineRun::write_final(const std::filesystem::path& file, const RunHooks& hooks) {
  const auto [model, update] = kept();
  if (const BestModel& best = training_.best(); !best.empty())
    hooks.message(format("kept the model of update {}: {:.2f} % of the {} validation rows are misclassified", update,
                         100 * best.error(), valid_rows_));
  if (constexpr double few = 0.5; awake_ && *awake_ < few)
    hooks.message(format(
        "{:.0f} % of the units above the first hidden layer tell rows apart (awake_units): the machine is not as "
        "deep as it looks. --pretrain rbm, or --mean-field-steps 1 with --initial-weights 0.1, may wake the "
        "others; the likelihood is not always better for it (docs/deep.md)",
        100 * *awake_));
  write_model(file, model);
  return update;
}

}  // namespace harmonium
