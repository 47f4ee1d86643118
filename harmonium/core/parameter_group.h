// What a step needs to know of parameters, whatever model they belong to: which decay, and at what rate they move.
#pragma once

#include <string>
#include <vector>

#include "harmonium/core/topology.h"

namespace harmonium {

enum class ParameterKind {
  weights,  // penalties pull at them; they move at the rate of weights
  bias,     // no penalty; the rate of biases
  other,    // precisions, scales: like biases
};

struct ParameterGroup {
  std::vector<std::string> names;  // entries of Moments
  ParameterKind kind = ParameterKind::weights;
  double rate = 1;  // times the rate of the kind
};

// Those of a machine.
[[nodiscard]] inline std::vector<ParameterGroup> groups_of(const Topology& topology) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias},
      other{.names = {}, .kind = ParameterKind::other};
  for (const EdgeInfo& edge : topology.edges) weights.names.push_back(edge.weights);
  for (const LayerInfo& layer : topology.layers)
    for (const std::string& name : layer.parameters)
      (name == layer.parameters.front() ? bias : other).names.push_back(name);
  return {weights, bias, other};
}

}  // namespace harmonium
