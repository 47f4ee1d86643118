#include "harmonium/training/sparsity.h"

#include "harmonium/core/error.h"

namespace harmonium {

Sparsity::Sparsity(const BoltzmannMachine& machine, const SparsityOptions& options) : options_(options) {
  if (options.cost == 0) return;
  require(options.target > 0 && options.target < 1, "a sparsity target lies between 0 and 1, not {}", options.target);
  require(options.decay >= 0 && options.decay < 1, "the decay of a sparsity average lies in [0, 1), not {}",
          options.decay);
  const Topology& topology = machine.topology();
  for (const std::size_t layer : machine.hidden()) {
    const Unit::Support support = machine.unit(layer).support();
    if (support != Unit::Support::bits && support != Unit::Support::linked_bits) continue;
    Layer one{.bias = topology.layers[layer].parameters.front(), .edges = {}, .activity = {}};
    for (const EdgeInfo& edge : topology.edges) {
      if (edge.lower != layer && edge.upper != layer) continue;
      const bool upper = edge.upper == layer;
      one.edges.push_back({.weights = edge.weights,
                           .neighbour_bias = topology.layers[upper ? edge.lower : edge.upper].parameters.front(),
                           .hidden_is_upper = upper});
    }
    layers_.push_back(std::move(one));
  }
  require(!layers_.empty(), "a sparsity target needs a hidden layer of binary units; this machine has none");
}

void Sparsity::observe(const Moments& data) {
  for (Layer& layer : layers_) {
    const at::Tensor& now = data[layer.bias];  // the statistic of a bias is the unit itself
    layer.activity = layer.activity.defined() ? at::lerp(now, layer.activity, options_.decay) : now.clone();
    for (Edge& edge : layer.edges) edge.neighbour_mean = data[edge.neighbour_bias].clone();
  }
}

void Sparsity::pull_(Moments& gradient) const {
  for (const Layer& layer : layers_) {
    const at::Tensor pull = options_.cost * (options_.target - layer.activity);
    gradient[layer.bias].add_(pull);
    for (const Edge& edge : layer.edges)
      gradient[edge.weights].add_(edge.hidden_is_upper ? at::outer(edge.neighbour_mean, pull)
                                                       : at::outer(pull, edge.neighbour_mean));
  }
}

NamedTensors Sparsity::state() const {
  NamedTensors tensors;
  for (const Layer& layer : layers_)
    if (layer.activity.defined()) tensors.emplace_back(layer.bias, layer.activity);
  return tensors;
}

void Sparsity::restore(const NamedTensors& tensors) {
  for (Layer& layer : layers_) {
    layer.activity = at::Tensor();
    for (const auto& [name, value] : tensors)
      if (name == layer.bias) layer.activity = value.clone();
  }
}

}  // namespace harmonium
