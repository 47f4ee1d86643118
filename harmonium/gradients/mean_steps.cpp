#include "harmonium/gradients/mean_steps.h"

#include "harmonium/core/error.h"

namespace harmonium {

Fields set_to_means(const BoltzmannMachine& machine, State& state, const LayerSet& layers) {
  Fields fields = machine.fields(layers, state);
  for (const std::size_t layer : layers)
    state.layers[layer] = machine.unit(layer).mean(fields[layer], machine.layer_parameters(layer));
  return fields;
}

Moments moments_after_mean_steps(const BoltzmannMachine& machine, State state, std::int64_t steps) {
  require(steps >= 1, "at least one step is needed to get from draws to means, not {}", steps);
  for (const EdgeInfo& edge : machine.topology().edges)
    require(
        !edge.inner(),
        "a mean-field step updates a whole layer at once, which is wrong with edges inside a layer ({}); use another "
        "gradient, without mean-field steps",
        edge.weights);
  Fields fields(machine.layers().size());
  for (std::int64_t step = 0; step < steps; ++step)
    for (const LayerSet& block : machine.blocks()) {
      Fields found = set_to_means(machine, state, block);
      for (const std::size_t layer : block) fields[layer] = std::move(found[layer]);
    }
  Moments result = machine.moments(state);
  // Other statistics than the value itself, such as squares, are not those of the mean.
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const std::vector<std::string>& names = machine.topology().layers[layer].parameters;
    if (names.size() == 1) continue;
    const auto expected = machine.unit(layer).expected_moments(fields[layer], machine.layer_parameters(layer), {});
    for (std::size_t i = 0; i < names.size(); ++i) result[names[i]].copy_(expected[i]);
  }
  return result;
}

}  // namespace harmonium
