#include "harmonium/gradients/base_rates.h"

#include <algorithm>

#include "harmonium/samplers/tempered_line.h"

namespace harmonium {

namespace {

constexpr std::int64_t time_scale = 100;  // batches
// A unit that is always off in the data still changes at the base now and then.
constexpr double rate_smoothing = 0.01;

}  // namespace

void BaseRates::observe(const BoltzmannMachine& machine, const State& data) {
  Moments batch;
  for (const std::size_t layer : machine.observed()) {
    if (layer >= data.layers.size() || !data.layers[layer].defined()) return;
    for (std::size_t i = 0; const at::Tensor& each : machine.unit(layer).moments(data.layers[layer], {}))
      batch.insert(machine.topology().layers[layer].parameters[i++], each);
  }
  if (average_.empty())
    average_ = batch.clone();
  else
    average_.lerp_(batch, 1.0 / static_cast<double>(std::min(batches_ + 1, time_scale)));
  ++batches_;
}

Moments BaseRates::parameters(const BoltzmannMachine& machine) const {
  Moments result = uniform_parameters(machine);
  if (average_.empty()) return result;
  for (const std::size_t layer : machine.observed()) {
    const std::vector<std::string>& names = machine.topology().layers[layer].parameters;
    std::vector<at::Tensor> moments;
    for (const std::string& name : names) moments.push_back(average_[name]);
    for (std::size_t i = 0; const at::Tensor& each : machine.unit(layer).parameters_of(moments, rate_smoothing))
      result[names[i++]].copy_(each);
  }
  return result;
}

NamedTensors BaseRates::state() const {
  if (average_.empty()) return {};
  NamedTensors tensors = {{"base.batches", at::tensor({batches_}, at::kLong)}};
  for (const auto& [name, value] : average_.entries()) tensors.emplace_back("base.rates." + name, value.clone());
  return tensors;
}

void BaseRates::restore(const NamedTensors& tensors) {
  average_ = {};
  batches_ = 0;
  const std::string prefix = "base.rates.";
  for (const auto& [name, value] : tensors) {
    if (name == "base.batches") batches_ = value.item<std::int64_t>();
    if (name.starts_with(prefix)) average_.insert(name.substr(prefix.size()), value.clone());
  }
}

}  // namespace harmonium
