#include "harmonium/training/objectives/contrastive.h"

#include <algorithm>
#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/inference/data_moments.h"
#include "harmonium/inference/enumerated_posterior.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/training/objectives/phase_statistics.h"

namespace harmonium {

namespace {

// Of an update's key, apart from those of negative phases.
constexpr std::uint64_t posterior_stream = 0x9057, completion_stream = 0x66696C6C;

// States of such machines are exact in TF32, and weights are rounded by less than what a batch is uncertain about.
bool takes_rounded_weights(const BoltzmannMachine& machine) {
  return device_precision() == Precision::fast &&
         std::ranges::all_of(machine.layers(), [](const Layer& layer) { return layer.unit->indicator(); });
}

}  // namespace

Contrastive::Contrastive(BoltzmannMachine machine, std::unique_ptr<NegativePhase> phase,
                         const SparsityOptions& sparsity, const DataInference& inference, Coordinates coordinates)
    : machine_(std::move(machine)),
      phase_(std::move(phase)),
      sparsity_(machine_, sparsity),
      sparse_(sparsity.cost != 0),
      inference_(inference) {
  if (inference_.by == DataInference::By::enumeration) require_few_hidden_states(machine_);
  if (StepLimit::acts_on(machine_)) limit_.emplace();
  if (coordinates == Coordinates::means) {
    const std::string complaint = MeansForm::complaint(machine_);
    require(complaint.empty(), "@coordinates means: {}", complaint);
    means_.emplace();
  }
}

void Contrastive::begin_posterior(const BatchStream& batches) {
  if (inference_.by == DataInference::By::sampling && machine_.hidden_joined())
    posterior_.emplace(machine_, batches.data().rows(), inference_.sampling, Key(inference_.seed));
}

void Contrastive::begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) {
  require_statistics(machine_, *phase_, optimizer);
  require(!means_ || optimizer.name() == "sgd",
          "@coordinates means is for plain gradients (@optimizer sgd), not for @optimizer {}: natural gradients do not "
          "depend on coordinates",
          optimizer.name());
  if (batches.data().missing > 0) completions_.emplace(batches, machine_);
  if (!sparse_ && !completions_) device_ = ContrastiveOnDevice::make(machine_, batches, *phase_, optimizer, step);
  begin_posterior(batches);
  if (machine_.hidden().empty() && !phase_->paired_with_batch()) all_data_ = moments_of_all_data(batches);
}

void Contrastive::learn_from(const BatchStream& batches) {
  (void)particles();  // wherever they have been
  if (device_ != nullptr) device_->forget();
  if (device_ != nullptr && !device_->serves(batches)) device_ = nullptr;
  begin_posterior(batches);
  if (!all_data_.empty()) all_data_ = moments_of_all_data(batches);
  completions_.reset();
  if (batches.data().missing > 0) completions_.emplace(batches, machine_);
}

Moments Contrastive::moments_of_all_data(const BatchStream& batches) const {
  constexpr std::int64_t rows_at_once = 100'000;
  const BoltzmannMachine precise = machine_.to(at::kDouble);
  const std::int64_t rows = batches.data().rows();
  Moments sum = precise.parameters().zeros_like();
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, rows);
    const at::Tensor values = batches.expected_values(first, end).to(at::kDouble);
    sum.add_(precise.moments(precise.observe({values})), static_cast<double>(end - first) / static_cast<double>(rows));
  }
  return sum.to(machine_.scalar_type());
}

Moments Contrastive::moments_of(const State& data, const Step& step) {
  if (posterior_) return posterior_->data_moments(machine_, data, step.rows, step.key.fold_in(posterior_stream));
  if (!all_data_.empty()) return all_data_.clone();
  if (inference_.by == DataInference::By::enumeration && machine_.hidden_joined())
    return enumerated_data_moments(machine_, data);
  return data_moments(machine_, data, inference_.mean_field);
}

Moments Contrastive::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  std::optional<FastProducts> fast;
  if (takes_rounded_weights(machine_)) fast.emplace(machine_.device());
  phase_->at_fraction(step.fraction);
  std::vector<at::Tensor> values = batch;
  for (at::Tensor& each : values) each = each.to(machine_.scalar_type());
  if (completions_)
    values[0] = completions_->fill(machine_, values[0], step.update, step.key.fold_in(completion_stream));
  const State data = machine_.observe(values);
  Moments gradient = moments_of(data, step);
  sparsity_.observe(gradient);
  if (step.observer != nullptr) {
    const Moments model = phase_->model_moments(machine_, data, step.key);
    step.observer->observe({gradient, model, phase_statistics(machine_, *phase_, *step.observer, model)});
    gradient.add_(model, -1);
  } else {
    phase_->subtract_model_moments(gradient, machine_, data, step.key);
  }
  phase_->observe_gradient(gradient);
  sparsity_.pull_(gradient);
  if (means_) means_->precondition_(gradient, machine_);
  if (limit_) limit_->before_step(machine_);
  return gradient;
}

void Contrastive::after_step() {
  if (limit_) limit_->after_step_(machine_);
  if (means_) means_->after_step_(machine_);
  constrain_(machine_, strength_);
}

const State& Contrastive::particles() const {
  if (device_ != nullptr) device_->give_back();
  return phase_->particles();
}

NamedTensors Contrastive::state() const {
  (void)particles();  // wherever they have been
  NamedTensors all = with_prefix("sparsity/", sparsity_.state());
  for (auto& entry : with_prefix("negative_phase/", phase_->state())) all.push_back(std::move(entry));
  if (posterior_)
    for (auto& entry : with_prefix("posterior/", posterior_->state())) all.push_back(std::move(entry));
  if (completions_) all.emplace_back("completions", completions_->state());
  return all;
}

void Contrastive::restore(const NamedTensors& saved) {
  sparsity_.restore(under_prefix("sparsity/", saved));
  phase_->restore(under_prefix("negative_phase/", saved));
  // Kernels trust shapes, and a checkpoint may be of another machine.
  const std::vector<at::Tensor>& chains = phase_->particles().layers;
  for (std::size_t layer = 0; layer < chains.size(); ++layer)
    require(layer < machine_.layers().size() && chains[layer].dim() == 2 && chains[layer].is_floating_point() &&
                chains[layer].size(1) == machine_.unit(layer).width() && chains[layer].size(0) == chains[0].size(0),
            "the chains of layer {} do not have the shape of its units", layer + 1);
  if (posterior_) posterior_->restore(under_prefix("posterior/", saved));
  if (completions_) completions_->restore(find_tensor(saved, "completions", "drawn values of missing ones"));
  if (device_ != nullptr) device_->forget();
}

}  // namespace harmonium
