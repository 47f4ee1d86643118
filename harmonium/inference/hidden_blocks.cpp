#include "harmonium/inference/hidden_blocks.h"

#include <algorithm>

namespace harmonium {

std::vector<LayerSet> hidden_blocks(const BoltzmannMachine& machine) {
  std::vector<LayerSet> blocks;
  for (const LayerSet& block : machine.blocks()) {
    LayerSet hidden;
    std::ranges::copy_if(block, std::back_inserter(hidden),
                         [&](std::size_t layer) { return !machine.layers()[layer].observed; });
    if (!hidden.empty()) blocks.push_back(std::move(hidden));
  }
  return blocks;
}

std::vector<LayerSet> hidden_blocks_from_data(const BoltzmannMachine& machine) {
  std::vector<LayerSet> blocks = hidden_blocks(machine);
  const LayerSet observed = machine.observed();
  if (observed.empty()) return blocks;
  const auto hears_data = [&](std::size_t layer) {
    return std::ranges::any_of(machine.topology().edges, [&](const EdgeInfo& edge) {
      return (edge.lower == observed.front() && edge.upper == layer) ||
             (edge.upper == observed.front() && edge.lower == layer);
    });
  };
  std::stable_partition(blocks.begin(), blocks.end(),
                        [&](const LayerSet& block) { return std::ranges::any_of(block, hears_data); });
  return blocks;
}

}  // namespace harmonium
