#include "harmonium/training/step_rule.h"

namespace harmonium {

void StepRule::penalize_(Moments& gradient, const Moments& parameters, const Topology& topology) const {
  for (const EdgeInfo& edge : topology.edges) {
    if (options_.weight_decay != 0) gradient[edge.weights].sub_(parameters[edge.weights], options_.weight_decay);
    if (options_.weight_decay_l1 != 0)
      gradient[edge.weights].sub_(parameters[edge.weights].sign(), options_.weight_decay_l1);
  }
}

StepRule::Rates StepRule::rates(std::int64_t update) const {
  const double factor = schedule_factor(options_.schedule, update, total_, options_.schedule_tau);
  return {.weights = factor * options_.rate_weights,
          .bias = factor * options_.rate_bias,
          .weight_decay = options_.weight_decay};
}

void StepRule::apply_(Moments& parameters, const Direction& direction, std::int64_t update) {
  const Rates rate = rates(update);
  Moments* target = &parameters;
  if (options_.momentum != 0) {
    if (velocity_.empty()) velocity_ = parameters.zeros_like();
    velocity_.mul_(options_.momentum);
    target = &velocity_;
  }
  target->add_some_(direction.pairwise, rate.weights);
  target->add_some_(direction.unary, rate.bias);
  if (target == &velocity_) parameters.add_(velocity_);
}

NamedTensors StepRule::state() const { return velocity_.entries(); }

void StepRule::restore(const NamedTensors& tensors, const Moments& shape) {
  velocity_ = {};
  if (tensors.empty()) return;
  velocity_ = shape.zeros_like();
  for (const auto& [name, value] : velocity_.entries()) at::Tensor(value).copy_(find_tensor(tensors, name, "velocity"));
}

}  // namespace harmonium
