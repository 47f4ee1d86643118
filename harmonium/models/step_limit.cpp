#include "harmonium/models/step_limit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harmonium/kernels/scaled_change.h"

namespace harmonium {

namespace {

// The place of a layer's precisions among its parameters, or nothing.
std::optional<std::size_t> precision_of(const Unit& unit) {
  const std::vector<std::string> names = unit.parameter_names();
  const auto found = std::ranges::find(names, "precision");
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

bool StepLimit::acts_on(const BoltzmannMachine& machine) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    if (precision_of(machine.unit(layer))) return true;
  return false;
}

void StepLimit::before_step(const BoltzmannMachine& machine) {
  if (before_.empty())
    before_ = machine.parameters().clone();
  else
    before_.copy_(machine.parameters());
}

void StepLimit::after_step_(BoltzmannMachine& machine) const {
  const Topology& topology = machine.topology();
  Moments& parameters = machine.parameters();
  std::vector<at::Tensor> changes;  // the largest of each kind, in its own units
  const auto compare = [&](const std::string& name, const at::Tensor& rows, const at::Tensor& columns) {
    const at::Tensor &after = parameters[name], &before = before_[name];
    const std::int64_t width = after.size(-1);
    changes.push_back(largest_scaled_change(after.view({-1, width}), before.view({-1, width}), rows, columns));
  };
  const at::Tensor one = at::ones({1}, before_.entries().front().second.options());
  std::vector<at::Tensor> scales;  // 1/√λ of each layer, as wide as it is; undefined without precisions
  for (std::size_t layer = 0; layer < topology.layers.size(); ++layer) {
    const auto& names = topology.layers[layer].parameters;
    scales.emplace_back();
    const auto place = precision_of(machine.unit(layer));
    if (!place) continue;
    const at::Tensor precision = before_[names.at(*place)];
    compare(names.at(*place), one, precision.reciprocal());
    scales.back() = precision.rsqrt().expand_as(before_[names.front()]).contiguous();
    compare(names.front(), one, scales.back());
  }
  for (const EdgeInfo& edge : topology.edges) {
    const at::Tensor &lower = scales[edge.lower], &upper = scales[edge.upper];
    if (!lower.defined() && !upper.defined()) continue;
    const at::Tensor& weights = before_[edge.weights];
    compare(edge.weights, lower.defined() ? lower : one.expand({weights.size(0)}),
            upper.defined() ? upper : one.expand({weights.size(1)}));
  }
  const at::Tensor factor = (share / at::stack(changes).max()).clamp_max(1);
  if (factor.is_cpu() && !(factor.item<double>() < 1)) return;
  for (const auto& [name, value] : parameters.entries()) {
    at::Tensor target = value;
    target.copy_(before_[name].lerp(value, factor.to(value.scalar_type())));
  }
}

}  // namespace harmonium
