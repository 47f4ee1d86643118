#include "harmonium/gradients/fpcd.h"

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::string_view overlay_prefix = "fast.";

}  // namespace

Moments Fpcd::model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) {
  if (overlay_.empty()) overlay_ = machine.parameters().zeros_like();
  BoltzmannMachine fast = machine.with_parameters(machine.parameters() + overlay_);
  fast.constrain_();
  return pcd_.model_moments(fast, data, key);
}

void Fpcd::observe_gradient(const Moments& gradient) {
  overlay_.mul_(options_.fast_decay);
  overlay_.add_(gradient, options_.fast_rate);
}

NamedTensors Fpcd::state() const {
  NamedTensors tensors = pcd_.state();
  for (const auto& [name, value] : overlay_.entries()) tensors.emplace_back(std::string(overlay_prefix) + name, value);
  return tensors;
}

void Fpcd::restore(const NamedTensors& tensors) {
  NamedTensors chains;
  overlay_ = {};
  for (const auto& [name, value] : tensors) {
    if (name.starts_with(overlay_prefix))
      overlay_.insert(name.substr(overlay_prefix.size()), value.clone());
    else
      chains.emplace_back(name, value);
  }
  pcd_.restore(chains);
}

}  // namespace harmonium
