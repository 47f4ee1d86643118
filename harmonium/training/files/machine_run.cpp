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

Trainer make_trainer(const RunConfig& config, const RunData& data, BoltzmannMachine machine,
                     const NamedTensors& chains) {
  const Key key(config.seed);
  BatchStream batches(data.train, batch_options(config, data, config.batch), key.fold_in(run_streams::batches),
                      machine.device());
  auto negative_phase = make_negative_phase(config.gradient, negative_phase_options(config));
  if (!chains.empty()) negative_phase->restore(chains);
  negative_phase = make_objective(config.objective, std::move(negative_phase), config.generative_weight);
  auto metric = make_metric(config.optimizer, machine.topology(), machine.parameters(), metric_options(config));
  const TrainerOptions options{.updates = config.updates,
                               .averaging = config.averaging,
                               .seed = key.fold_in(run_streams::updates).bits(),
                               .sparsity = {.target = config.sparsity_target, .cost = config.sparsity_cost}};
  return {std::move(machine), std::move(batches),   std::move(negative_phase),
          std::move(metric),  step_options(config), options};
}

MachineRun::MachineRun(const RunConfig& config, const RunData& data, Model model, const NamedTensors& chains)
    : model_(std::move(model)),
      trainer_(make_trainer(config, data, model_.machine.to(find_device(config.device)), chains)),
      monitor_(data.train, data.valid, data.binarization, label_classes(config, data),
               Key(config.seed).fold_in(run_streams::monitor).bits()) {
  // The monitor's few hundred rows would choose by luck.
  if (config.keep == "best") all_valid_.emplace(data.valid, data.binarization);
  valid_rows_ = data.valid.rows();
}

std::map<std::string, double> MachineRun::measure() {
  std::map<std::string, double> metrics = monitor_.measure(trainer_.averaged());
  if (const auto found = metrics.find("awake_units"); found != metrics.end()) awake_ = found->second;
  if (all_valid_) {
    metrics["classification_error"] = all_valid_->measure(trainer_.averaged());
    best_.observe(trainer_.averaged().parameters(), metrics["classification_error"], trainer_.update());
  }
  if (trainer_.update() > 0) metrics["gradient_norm"] = trainer_.gradient_norm();
  metrics["epoch"] = trainer_.epoch();
  return metrics;
}

NamedTensors MachineRun::state() const {
  NamedTensors tensors = trainer_.state();
  for (auto& entry : best_.state()) tensors.push_back(std::move(entry));
  return tensors;
}

void MachineRun::restore(std::int64_t update, const NamedTensors& tensors) {
  trainer_.restore(update, tensors);
  best_.restore(tensors, trainer_.machine().parameters());
}

void MachineRun::learn_from(const RunConfig& config, const RunData& data) {
  // A key of its own: the same numbers would choose the same bits in batch after batch.
  const Key key = Key(config.seed).fold_in(run_streams::batches).fold_in(static_cast<std::uint64_t>(update()));
  trainer_.learn_from(
      BatchStream(data.train, batch_options(config, data, data.train.rows()), key, trainer_.machine().device()));
}

Model MachineRun::current() const {
  Model model = model_;
  model.machine = trainer_.averaged();
  model.notes["updates"] = std::to_string(trainer_.update());
  return model;
}

std::pair<Model, std::int64_t> MachineRun::kept() const {
  Model model = current();
  if (best_.empty()) return {std::move(model), trainer_.update()};
  model.machine = model.machine.with_parameters(best_.parameters());
  model.notes["updates"] = std::to_string(best_.update());
  return {std::move(model), best_.update()};
}

std::filesystem::path MachineRun::keep_snapshot(const std::filesystem::path& folder, double seconds) {
  Model snapshot = model_;
  snapshot.machine = trainer_.averaged();
  return write_snapshot(folder, snapshot, trainer_.update(), seconds);
}

std::int64_t MachineRun::write_final(const std::filesystem::path& file, const RunHooks& hooks) {
  const auto [model, update] = kept();
  if (!best_.empty())
    hooks.message(format("kept the model of update {}: {:.2f} % of the {} validation rows are misclassified", update,
                         100 * best_.error(), valid_rows_));
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
