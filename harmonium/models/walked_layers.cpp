#include "harmonium/models/walked_layers.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

void WalkedLayers::sweep(State& state, const Key& key, const Redraw& redraw) const {
  if (!ordered) {
    redraw(state, kept, key);
    return;
  }
  constexpr std::uint64_t coin = 0xC014;
  const std::int64_t all = state.layers[kept.front()].size(0);
  const at::Tensor forwards =
      uniform(key.fold_in(coin), {all}, state.layers[kept.front()].options().dtype(at::kFloat)).lt(0.5);
  for (const bool way : {true, false}) {
    const at::Tensor chosen = forwards.eq(way).nonzero().squeeze(1);
    if (chosen.size(0) == 0) continue;
    State rows = state;
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.index_select(0, chosen);
    LayerSet in_turn = kept;
    if (!way) std::ranges::reverse(in_turn);
    redraw(rows, in_turn, key.fold_in(way ? 0 : 1));
    for (const std::size_t layer : kept)
      state.layers[layer] = state.layers[layer].index_copy(0, chosen, rows.layers[layer]);
  }
}

WalkedLayers walked_layers(const BoltzmannMachine& machine, SumOut sum_out) {
  const std::vector<LayerSet>& blocks = machine.blocks();
  const auto sums_out = [&](std::size_t block) {
    return block < blocks.size() && machine.without_inner_edges(blocks[block]).size() == blocks[block].size();
  };
  WalkedLayers walked;
  if (blocks.size() > 1) {
    if (sum_out == SumOut::even) {
      require(sums_out(0),
              "the even layers are to be summed out, and units of layer '{}' are joined to each other; leave @sum_out "
              "out",
              machine.layers()[blocks[0].front()].name);
      walked.summed = blocks[0];
    } else if (sums_out(1)) {
      walked.summed = blocks[1];
    } else if (sums_out(0)) {
      walked.summed = blocks[0];
    }
  }
  const auto keeps = [&](std::size_t layer) { return std::ranges::find(walked.kept, layer) != walked.kept.end(); };
  for (const LayerSet& block : blocks)
    if (block != walked.summed) walked.kept.insert(walked.kept.end(), block.begin(), block.end());
  for (const EdgeInfo& edge : machine.topology().edges)
    if (keeps(edge.lower) && keeps(edge.upper)) {
      walked.joined = true;
      walked.ordered = walked.ordered || !edge.inner();
    }
  return walked;
}

}  // namespace harmonium
