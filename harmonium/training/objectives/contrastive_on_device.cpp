#include "harmonium/training/objectives/contrastive_on_device.h"

#include "harmonium/core/device.h"
#include "harmonium/training/objectives/phase_statistics.h"
#include "harmonium/training/rbm_statistics.h"

namespace harmonium {

std::unique_ptr<ContrastiveOnDevice> ContrastiveOnDevice::make(const BoltzmannMachine& machine,
                                                               const BatchStream& batches, NegativePhase& phase,
                                                               const Optimizer& optimizer, const StepOptions& step) {
  const auto* metric = dynamic_cast<const Metric*>(&optimizer);
  if (metric == nullptr) return nullptr;
  std::unique_ptr<DeviceUpdate> update = DeviceUpdate::make(machine, batches, phase, *metric, step);
  if (update == nullptr) return nullptr;
  return std::unique_ptr<ContrastiveOnDevice>(new ContrastiveOnDevice(machine, batches, phase, std::move(update)));
}

ContrastiveOnDevice::ContrastiveOnDevice(const BoltzmannMachine& machine, const BatchStream& batches,
                                         NegativePhase& phase, std::unique_ptr<DeviceUpdate> update)
    : machine_(machine),
      phase_(phase),
      update_(std::move(update)),
      bits_(batches.bits_of_bytes()),
      batch_(batches.options().batch) {}

void ContrastiveOnDevice::step(const Step& step, BatchStream& batches, Optimizer& optimizer, const StepRule& rule,
                               Averaging& averaging, bool last) {
  auto& metric = dynamic_cast<Metric&>(optimizer);  // as make() saw it
  phase_.at_fraction(step.fraction);
  std::optional<BatchStream::ByteBatch> batch;
  if (!update_->has_drawn(batches.key_of(step.update))) batch = batches.byte_batch(step.update);
  update_->estimate(machine_, batch, step.key);
  if (step.observer != nullptr) {
    // Means of units are all that a factorized metric reads in the two moments.
    Moments data, model;
    if (metric.wants_moments()) {
      data = update_->unary_moments(0);
      model = update_->unary_moments(1);
    }
    const FastProducts fast(machine_.device());
    metric.observe({data, model, metric.wants_statistics() ? statistics(metric) : nullptr});
  }
  metric.refit_if_due(step.update);
  update_->learn(machine_.parameters(), averaging.average(), metric, rule.rates(step.update),
                 averaging.weight(step.update),
                 last ? std::nullopt : std::optional(batches.byte_batch(step.update + 1)));
}

double ContrastiveOnDevice::gradient_norm() const {
  return update_->estimated() ? norm(update_->data_moments().add_(update_->model_moments(), -1)) : 0;
}

const State& ContrastiveOnDevice::particles() {
  give_back();
  return phase_.particles();
}

std::shared_ptr<const ModelStatistics> ContrastiveOnDevice::statistics(const Metric& metric) {
  // The table has visible units by expectation; where hidden ones are more, it should be those (phase_statistics()).
  if (machine_.unit(0).width() < machine_.unit(1).width()) {
    give_back();
    return phase_statistics(machine_, phase_, metric, {});
  }
  // Factorized metrics ask at once and keep nothing, so that chains are made tables only if somebody asks for more.
  return std::make_shared<RbmStatistics>(
      machine_, update_->units(machine_),
      ParticleSource{.drawn = [this] { return machine_.particles(particles()); },
                     .expected = [this] { return machine_.particles(particles(), {0}); }});
}

}  // namespace harmonium
