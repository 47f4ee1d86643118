// Which layers a machine has and which pairs an edge joins: all that step rules and geometry may know of a model.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace harmonium {

struct LayerInfo {
  std::string name;                     // "visible"
  std::int64_t width = 0;               // columns of the layer's state
  std::vector<std::string> parameters;  // entries of Moments that belong to the layer; the first is always its bias
  bool indicator = false;               // values are 0 or 1, so that x² = x
};

struct EdgeInfo {
  std::string weights;               // entry of Moments: "visible_hidden.weights", shape width(lower) × width(upper)
  std::size_t lower = 0, upper = 0;  // indices of layers; the same for an edge inside a layer
  // Of an edge inside a layer: 1 where (i, j) is a pair of units, each pair once with i before j, and 0 elsewhere.
  at::Tensor pairs = {};

  [[nodiscard]] bool inner() const { return lower == upper; }
  // `values` (lower × upper) without what is not a pair; as they are for an edge between two layers.
  [[nodiscard]] at::Tensor masked(const at::Tensor& values) const { return inner() ? values.mul(pairs) : values; }
};

struct Topology {
  std::vector<LayerInfo> layers;
  std::vector<EdgeInfo> edges;
};

}  // namespace harmonium
