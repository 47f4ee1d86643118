#include "harmonium/models/step_limit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <vector>

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

void StepLimit::after_step_(BoltzmannMachine& machine) const {
  const Topology& topology = machine.topology();
  Moments& parameters = machine.parameters();
  std::vector<at::Tensor> shares;  // the largest change of each kind, in units of what is allowed
  const auto compare = [&](const std::string& name, const at::Tensor& allowed) {
    shares.push_back(((parameters[name] - before_[name]).abs() / allowed).max().to(at::kFloat));
  };
  std::vector<at::Tensor> deviations;  // √λ of each layer, as wide as it is; undefined without precisions
  for (std::size_t layer = 0; layer < topology.layers.size(); ++layer) {
    const auto& names = topology.layers[layer].parameters;
    deviations.emplace_back();
    const auto place = precision_of(machine.unit(layer));
    if (!place) continue;
    const at::Tensor precision = before_[names.at(*place)];
    compare(names.at(*place), share * precision);
    deviations.back() = precision.sqrt().expand_as(before_[names.front()]);
    compare(names.front(), share * deviations.back());
  }
  for (const EdgeInfo& edge : topology.edges) {
    const at::Tensor &lower = deviations[edge.lower], &upper = deviations[edge.upper];
    if (!lower.defined() && !upper.defined()) continue;
    at::Tensor allowed = at::full({1, 1}, share, before_[edge.weights].options());
    if (lower.defined()) allowed = allowed * lower.unsqueeze(1);
    if (upper.defined()) allowed = allowed * upper.unsqueeze(0);
    compare(edge.weights, allowed);
  }
  const at::Tensor factor = at::stack(shares).max().reciprocal().clamp_max(1);
  if (factor.is_cpu() && !(factor.item<double>() < 1)) return;
  for (const auto& [name, value] : parameters.entries()) {
    at::Tensor target = value;
    target.copy_(before_[name].lerp(value, factor.to(value.scalar_type())));
  }
}

}  // namespace harmonium
