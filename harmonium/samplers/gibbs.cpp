#include "harmonium/samplers/gibbs.h"

#include <algorithm>
#include <memory>

#include "harmonium/core/error.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/kernels/tile_sums.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/single_site.h"

namespace harmonium {

namespace {

// Units in `known` that are numbers keep their values in layers with an edge inside; other layers are drawn whole.
void sample_free(const BoltzmannMachine& machine, CodedState& state, const Key& key, const LayerSet& layers,
                 const KnownUnits& known, Fields* fields) {
  if (fields != nullptr) fields->assign(machine.layers().size(), {});
  for (const std::size_t layer : layers) {
    const Key own = key.fold_in(layer);
    if (machine.inner_edge(layer) != nullptr) {
      const bool some_known = layer < known.size() && known[layer].defined();
      state.layers[layer] = single_site_sweep(machine, layer, state.plain(), own, machine.field(layer, state), 1,
                                              some_known ? at::logical_not(known[layer].isnan()) : at::Tensor());
    } else {
      state.layers[layer] = machine.draw(layer, own, state, fields == nullptr ? nullptr : &(*fields)[layer]);
    }
  }
}

LayerSet without(const LayerSet& layers, const LayerSet& clamped) {
  LayerSet result;
  std::ranges::copy_if(layers, std::back_inserter(result),
                       [&](std::size_t layer) { return std::ranges::find(clamped, layer) == clamped.end(); });
  return result;
}

// `fields` (if any) are those of the block drawn last.
void sweep_blocks(const BoltzmannMachine& machine, CodedState& state, const Key& key, std::int64_t sweeps,
                  const LayerSet& clamped, Fields* fields) {
  std::vector<LayerSet> blocks;
  for (const LayerSet& block : machine.blocks())
    if (LayerSet free = without(block, clamped); !free.empty()) blocks.push_back(std::move(free));
  const auto digits = sweeps > 1 ? std::make_unique<KeptDigits>() : nullptr;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const bool last = sweep + 1 == sweeps && block + 1 == blocks.size();
      sample_free(machine, state, key.fold_in(static_cast<std::uint64_t>(sweep)), blocks[block], {},
                  last ? fields : nullptr);
    }
}

// Works on a coded state in place of a plain one, so that nothing that is replaced on the way is kept until the end. If
// the work fails, what it has come to is the state.
template <class Work>
void on_coded(State& state, Work work) {
  CodedState coded = state;
  state.layers.clear();
  try {
    work(coded);
  } catch (...) {
    state = coded.plain();
    throw;
  }
  state = coded.plain();
}

// Whether sweeps of a machine are walks of a binary RBM's chains on a device, and those. Layers are drawn in the order
// of blocks, which is that of layers.
bool walks_on_device(const BoltzmannMachine& machine, const State& state) {
  if (!is_binary_rbm(machine) || !state.layers[1].defined() ||
      !RbmChains::serve(machine.parameters()[machine.topology().edges[0].weights]))
    return false;
  // Words hold bits; somebody may start from means.
  return state.layers[1].square().eq(state.layers[1]).all().item<bool>();
}

void walk_on_device(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps) {
  const at::Tensor weights = machine.parameters()[machine.topology().edges[0].weights].contiguous(),
                   visible = machine.layer_parameters(0)[0].contiguous(),
                   hidden = machine.layer_parameters(1)[0].contiguous();
  RbmChains chains(weights, state.rows());
  chains.arrange(weights);
  chains.set({}, state.layers[1]);
  std::vector<StepKeys> keys;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const Key own = key.fold_in(static_cast<std::uint64_t>(sweep));
    keys.push_back({own.fold_in(0).bits(), own.fold_in(1).bits()});
  }
  chains.sweep({weights, visible, hidden}, keys);
  state.layers = {chains.visible(), chains.hidden()};
}

// `visit` sees the end of the walk and the fields of the block drawn last, before the state is made numbers again.
template <class Visit>
void walk(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps, Visit visit) {
  on_coded(state, [&](CodedState& coded) {
    Fields fields;
    sweep_blocks(machine, coded, key, sweeps, {}, &fields);
    visit(coded, std::move(fields));
  });
}

}  // namespace

Fields sample_layers(const BoltzmannMachine& machine, State& state, const Key& key, const LayerSet& layers) {
  Fields fields;
  on_coded(state, [&](CodedState& coded) { sample_free(machine, coded, key, layers, {}, &fields); });
  return fields;
}

void gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps,
           const LayerSet& clamped) {
  if (sweeps > 0 && clamped.empty() && walks_on_device(machine, state)) {
    walk_on_device(machine, state, key, sweeps);
    return;
  }
  on_coded(state, [&](CodedState& coded) { sweep_blocks(machine, coded, key, sweeps, clamped, nullptr); });
}

Moments walk_and_average(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps) {
  Moments result;
  walk(machine, state, key, sweeps,
       [&](const CodedState& end, Fields fields) { result = machine.moments(end, std::move(fields)); });
  return result;
}

void walk_and_add_(Moments& target, double scale, const BoltzmannMachine& machine, State& state, const Key& key,
                   std::int64_t sweeps) {
  walk(machine, state, key, sweeps,
       [&](const CodedState& end, Fields fields) { machine.add_moments_(target, scale, end, std::move(fields)); });
}

void conditional_gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps,
                       const KnownUnits& known) {
  require(known.size() == machine.layers().size(), "known units of {} layers were given for a machine of {}",
          known.size(), machine.layers().size());
  on_coded(state, [&](CodedState& coded) {
    const auto hold = [&](const LayerSet& layers) {
      for (const std::size_t layer : layers)
        if (known[layer].defined())
          coded.layers[layer] = at::where(known[layer].isnan(), coded.layers[layer].table(), known[layer]);
    };
    for (const LayerSet& block : machine.blocks()) hold(block);
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
      // Last block first, so that the hidden layers see the known values before the visible ones are drawn.
      for (auto block = machine.blocks().rbegin(); block != machine.blocks().rend(); ++block) {
        sample_free(machine, coded, key.fold_in(static_cast<std::uint64_t>(sweep)), *block, known, nullptr);
        hold(*block);
      }
  });
}

}  // namespace harmonium
