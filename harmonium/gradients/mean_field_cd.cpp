#include "harmonium/gradients/mean_field_cd.h"

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

Fields set_to_means(const BoltzmannMachine& machine, State& state, const LayerSet& layers) {
  Fields fields = machine.fields(layers, state);
  for (const std::size_t layer : layers)
    state.layers[layer] = machine.unit(layer).mean(fields[layer], machine.layer_parameters(layer));
  return fields;
}

}  // namespace

Moments MeanFieldCd::model_moments(const BoltzmannMachine& machine, const State& data, const Key&) {
  for (const EdgeInfo& edge : machine.topology().edges)
    require(!edge.inner(),
            "mean-field cd takes the units of a layer all at once, which '{}' inside a layer forbids; use "
            "another gradient",
            edge.weights);
  State means = data;  // layers are replaced, not written to, so the batch itself is safe
  set_to_means(machine, means, machine.hidden());
  Fields last;
  for (std::int64_t sweep = 0; sweep < options_.sweeps_at(fraction_); ++sweep)
    for (const LayerSet& block : machine.blocks()) last = set_to_means(machine, means, block);
  return machine.moments(means, last);
}

}  // namespace harmonium
