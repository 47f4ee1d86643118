#include "harmonium/likelihood/base_model.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

bool has_weights(const BoltzmannMachine& machine) {
  return std::ranges::any_of(machine.topology().edges, [&](const EdgeInfo& edge) {
    return machine.parameters()[edge.weights].count_nonzero().item<std::int64_t>() > 0;
  });
}

double independent_log_z(const BoltzmannMachine& machine) {
  const BoltzmannMachine precise = machine.to(at::kDouble);
  double total = 0;
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const Unit::Parameters theta = precise.layer_parameters(layer);
    total += machine.unit(layer).log_partition(theta[0].unsqueeze(0), theta).item<double>();
  }
  return total;
}

}  // namespace

BaseModel::BaseModel(BoltzmannMachine machine, std::string description)
    : machine_(std::move(machine)), description_(std::move(description)), independent_(!has_weights(machine_)) {
  require(
      independent_ || can_enumerate(machine_),
      "the base model ({}) has weights and more than 2^{} states on its smaller side, so its log Z is unknown. Give "
      "a smaller one, or one without weights",
      description_, enumeration_bits);
  log_z_ = independent_ ? independent_log_z(machine_) : exact_log_z(machine_).value;
}

BaseModel::BaseModel(BoltzmannMachine machine, std::string description, double log_z)
    : machine_(std::move(machine)),
      description_(std::move(description)),
      independent_(!has_weights(machine_)),
      log_z_(log_z) {}

State BaseModel::draw(const Key& key, std::int64_t rows) const {
  return independent_ ? machine_.independent_sample(key, rows) : exact_sample(machine_, key, rows);
}

Moments BaseModel::moments() const {
  const BoltzmannMachine precise = machine_.precise_on_cpu();
  Moments result;
  if (independent_) {
    std::vector<at::Tensor> means;
    for (std::size_t layer = 0; layer < machine_.layers().size(); ++layer) {
      const Unit::Parameters theta = precise.layer_parameters(layer);
      const at::Tensor field = theta[0].unsqueeze(0);
      means.push_back(precise.unit(layer).mean(field, theta)[0]);
      for (std::size_t i = 0; const at::Tensor& each : precise.unit(layer).expected_moments(field, theta, {}))
        result.insert(precise.topology().layers[layer].parameters[i++], each);
    }
    for (const EdgeInfo& edge : precise.topology().edges)
      result.insert(edge.weights, edge.masked(at::outer(means[edge.lower], means[edge.upper])));
  } else {
    const EnumerationPlan plan = plan_enumeration(precise, enumeration_bits);
    result = precise.parameters().zeros_like();
    for_each_state(precise, plan, [&](const State& state, const at::Tensor& log_weight) {
      result.add_(precise.moments(state, precise.fields(plan.summed, state), (log_weight - log_z_).exp()));
    });
  }
  return result.to(machine_.options());
}

BaseModel uniform_base(const BoltzmannMachine& machine) {
  Moments parameters = machine.parameters().zeros_like();
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    for (std::size_t i = 0; const at::Tensor& neutral : machine.unit(layer).neutral_parameters(machine.scalar_type()))
      parameters[machine.topology().layers[layer].parameters[i++]].copy_(neutral);
  return {machine.with_parameters(std::move(parameters)), "uniform"};
}

}  // namespace harmonium
