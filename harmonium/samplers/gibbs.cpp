#include "harmonium/samplers/gibbs.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/samplers/single_site.h"

namespace harmonium {

namespace {

// Units in `known` that are numbers keep their values in layers with an edge inside; other layers are drawn whole.
Fields sample_free(const BoltzmannMachine& machine, State& state, const Key& key, const LayerSet& layers,
                   const KnownUnits& known) {
  Fields fields = machine.fields(layers, state);
  for (const std::size_t layer : layers) {
    if (machine.inner_edge(layer) != nullptr) {
      const bool some_known = layer < known.size() && known[layer].defined();
      state.layers[layer] = single_site_sweep(machine, layer, state, key.fold_in(layer), fields[layer], 1,
                                              some_known ? at::logical_not(known[layer].isnan()) : at::Tensor());
      fields[layer] = at::Tensor();
    } else {
      state.layers[layer].reset();
      state.layers[layer] =
          machine.unit(layer).sample(key.fold_in(layer), fields[layer], machine.layer_parameters(layer));
    }
  }
  return fields;
}

}  // namespace

Fields sample_layers(const BoltzmannMachine& machine, State& state, const Key& key, const LayerSet& layers) {
  return sample_free(machine, state, key, layers, {});
}

Fields gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps,
             const LayerSet& clamped) {
  Fields last;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const Key sweep_key = key.fold_in(static_cast<std::uint64_t>(sweep));
    for (const LayerSet& block : machine.blocks()) {
      LayerSet free;
      std::ranges::copy_if(block, std::back_inserter(free),
                           [&](std::size_t layer) { return std::ranges::find(clamped, layer) == clamped.end(); });
      if (free.empty()) continue;
      last.clear();  // before the next block takes as much again
      last = sample_layers(machine, state, sweep_key, free);
    }
  }
  return last;
}

void conditional_gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps,
                       const KnownUnits& known) {
  require(known.size() == machine.layers().size(), "known units of {} layers were given for a machine of {}",
          known.size(), machine.layers().size());
  const auto hold = [&](const LayerSet& layers) {
    for (const std::size_t layer : layers)
      if (known[layer].defined())
        state.layers[layer] = at::where(known[layer].isnan(), state.layers[layer], known[layer]);
  };
  for (const LayerSet& block : machine.blocks()) hold(block);
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
    // Last block first, so that the hidden layers see the known values before the visible ones are drawn.
    for (auto block = machine.blocks().rbegin(); block != machine.blocks().rend(); ++block) {
      (void)sample_free(machine, state, key.fold_in(static_cast<std::uint64_t>(sweep)), *block, known);
      hold(*block);
    }
}

}  // namespace harmonium
