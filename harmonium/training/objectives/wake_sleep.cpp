#include "harmonium/training/objectives/wake_sleep.h"

#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium {

WakeSleep::WakeSleep(const BeliefNet& net, std::unique_ptr<NegativePhase> top_phase)
    : net_(untied(net)), parameters_(parameters_of(net_)), top_phase_(std::move(top_phase)) {
  require(net_.down.size() >= 2,
          "up–down needs at least two hidden layers; a belief net of one machine is trained as an RBM");
  require(top_phase_->has_particles(), "up–down needs a gradient with chains, and @gradient {} has none; use cd or pcd",
          top_phase_->name());
}

void WakeSleep::begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) {
  Objective::begin(batches, optimizer, step);
  const std::int64_t width = net_.down.front().unit(0).width();
  require(batches.data().columns() == width, "{} has {} columns, the belief net has {}", batches.data().name,
          batches.data().columns(), width);
}

Moments WakeSleep::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  std::optional<FastProducts> fast;
  if (device_precision() == Precision::fast) fast.emplace(net_.top().device());
  top_phase_->at_fraction(step.fraction);
  WakeSleepGradient found =
      wake_sleep_gradient(net_, *top_phase_, batch[0], batch.size() > 1 ? batch[1] : at::Tensor(), step.key);
  drawn_ = std::move(found.states);
  return std::move(found.gradient);
}

void WakeSleep::after_step() {
  for (MachineStack* stack : {&net_.down, &net_.up})
    for (BoltzmannMachine& machine : *stack) machine.constrain_();
}

NamedTensors WakeSleep::state() const { return with_prefix("top_phase/", top_phase_->state()); }

void WakeSleep::restore(const NamedTensors& saved) {
  top_phase_->restore(under_prefix("top_phase/", saved));
  drawn_ = {};
}

}  // namespace harmonium
