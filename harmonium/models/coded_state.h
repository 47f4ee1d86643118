// A state whose layers are numbers or, where they are binary, codes (kernels/coded_table.h): what a walk of many draws
// passes from one to the next. Numbers are made when somebody asks for them.
#pragma once

#include <vector>

#include "harmonium/core/state.h"
#include "harmonium/kernels/coded_table.h"

namespace harmonium {

struct CodedState {
  CodedState() = default;
  // Shares the tensors, which must not be written to while this is in use. Implicit: any state may be passed.
  CodedState(const State& state)  // NOLINT(google-explicit-constructor)
      : layers(state.layers.begin(), state.layers.end()) {}

  [[nodiscard]] State plain() const {
    State result;
    for (const CodedTable& layer : layers) result.layers.push_back(layer.table());
    return result;
  }
  // Rows of the layers that are defined; zero when none is.
  [[nodiscard]] std::int64_t rows() const {
    for (const CodedTable& layer : layers)
      if (layer.defined()) return layer.rows();
    return 0;
  }

  std::vector<CodedTable> layers;
};

}  // namespace harmonium
