#include "harmonium/training/objectives/contrasted_part.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/plain.h"
#include "harmonium/training/objectives/phase_statistics.h"

namespace harmonium {

namespace {

// Of an update's key, apart from those of the whole.
constexpr std::uint64_t part_stream = 0x9A27;

}  // namespace

ContrastedPart::ContrastedPart(std::unique_ptr<Objective> whole, BoltzmannMachine machine, std::string prefix,
                               std::shared_ptr<NegativePhase> phase, Rows rows)
    : whole_(std::move(whole)),
      machine_(std::move(machine)),
      prefix_(std::move(prefix)),
      phase_(std::move(phase)),
      rows_(std::move(rows)) {
  const std::string complaint = phase_->complaint(machine_);
  require(complaint.empty(), "a prior cannot be trained by {}: it {}; use one of: {}", phase_->name(), complaint,
          negative_phases_for(machine_));
}

void ContrastedPart::begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) {
  // What is observed is the machine, and the whole has nothing to show.
  whole_->begin(batches, Plain(whole_->groups()), step);
  require_statistics(machine_, *phase_, optimizer);
}

Moments ContrastedPart::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  Step of_whole = step;
  of_whole.observer = nullptr;
  Moments gradient = whole_->gradient(batch, of_whole);
  Moments own;  // shares the tensors of the gradient
  for (const auto& [name, value] : machine_.parameters().entries()) own.insert(name, gradient[prefix_ + name]);
  phase_->at_fraction(step.fraction);
  const Moments model = phase_->model_moments(machine_, machine_.observe({rows_()}), step.key.fold_in(part_stream));
  if (step.observer != nullptr)
    step.observer->observe({own, model, phase_statistics(machine_, *phase_, *step.observer, model)});
  own.add_(model, -1);
  phase_->observe_gradient(own);
  return gradient;
}

void ContrastedPart::after_step() {
  whole_->after_step();
  machine_.constrain_();
}

NamedTensors ContrastedPart::state() const {
  NamedTensors all = whole_->state();
  for (auto& entry : with_prefix("negative_phase/", phase_->state())) all.push_back(std::move(entry));
  return all;
}

void ContrastedPart::restore(const NamedTensors& saved) {
  whole_->restore(saved);
  phase_->restore(under_prefix("negative_phase/", saved));
}

}  // namespace harmonium
