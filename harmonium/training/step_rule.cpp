#include "harmonium/training/step_rule.h"

namespace harmonium {

void StepRule::penalize_(Moments& gradient, const Moments& parameters,
                         const std::vector<ParameterGroup>& groups) const {
  if (options_.weight_decay == 0 && options_.weight_decay_l1 == 0) return;
  for (const ParameterGroup& group : groups) {
    if (group.kind != ParameterKind::weights) continue;
    for (const std::string& name : group.names) {
      if (!gradient.contains(name)) continue;
      if (options_.weight_decay != 0) gradient[name].sub_(parameters[name], options_.weight_decay);
      if (options_.weight_decay_l1 != 0) gradient[name].sub_(parameters[name].sign(), options_.weight_decay_l1);
    }
  }
}

StepRule::Rates StepRule::rates(std::int64_t update) const {
  double factor = schedule_factor(options_.schedule, update, total_, options_.schedule_tau);
  if (update < options_.warmup) factor *= static_cast<double>(update + 1) / static_cast<double>(options_.warmup);
  return {.weights = factor * options_.rate_weights,
          .bias = factor * options_.rate_bias,
          .weight_decay = options_.weight_decay};
}

void StepRule::apply_(Moments& parameters, const Direction& direction, std::int64_t update) {
  const Rates rate = rates(update);
  const auto add = [&](Moments& target) {
    target.add_some_(direction.pairwise, rate.weights);
    target.add_some_(direction.unary, rate.bias);
  };
  if (options_.momentum == 0) {
    add(parameters);
    return;
  }
  if (velocity_.empty()) velocity_ = parameters.zeros_like();
  const auto visit_moving = [&](const auto& visit) {
    for (const auto& [name, value] : velocity_.entries())
      if (direction.pairwise.contains(name) || direction.unary.contains(name)) visit(name, at::Tensor(value));
  };
  visit_moving([&](const std::string&, at::Tensor velocity) { velocity.mul_(options_.momentum); });
  add(velocity_);
  visit_moving([&](const std::string& name, const at::Tensor& velocity) { parameters[name].add_(velocity); });
}

NamedTensors StepRule::state() const { return velocity_.entries(); }

void StepRule::restore(const NamedTensors& tensors, const Moments& shape) {
  velocity_ = {};
  if (tensors.empty()) return;
  velocity_ = shape.zeros_like();
  for (const auto& [name, value] : velocity_.entries()) at::Tensor(value).copy_(find_tensor(tensors, name, "velocity"));
}

}  // namespace harmonium
