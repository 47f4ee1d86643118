// One configuration per row: a tensor (rows × width) for each layer, in the machine's order of layers.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace harmonium {

struct State {
  std::vector<at::Tensor> layers;

  // Rows of the layers that are defined; zero when none is.
  [[nodiscard]] std::int64_t rows() const {
    for (const auto& layer : layers)
      if (layer.defined()) return layer.size(0);
    return 0;
  }
  [[nodiscard]] State clone() const {
    State copy;
    for (const auto& layer : layers) copy.layers.push_back(layer.defined() ? layer.clone() : layer);
    return copy;
  }
};

}  // namespace harmonium
