#include "harmonium/samplers/base_parameters.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

Moments base_rate_parameters(const BoltzmannMachine& machine, const ObservedMoments& observed_moments,
                             double smoothing) {
  Moments base = machine.parameters().zeros_like();
  const LayerSet observed = machine.observed();
  require(observed_moments.size() == observed.size(), "base rates for {} layers, but {} are observed",
          observed_moments.size(), observed.size());
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const auto place = std::ranges::find(observed, layer);
    const Unit::Parameters theta =
        place == observed.end() ? machine.unit(layer).neutral_parameters(machine.scalar_type())
                                : machine.unit(layer).parameters_of(
                                      observed_moments[static_cast<std::size_t>(place - observed.begin())], smoothing);
    for (std::size_t i = 0; const std::string& name : machine.topology().layers[layer].parameters)
      base[name].copy_(theta[i++]);
  }
  return base;
}

Moments base_rate_parameters(const BoltzmannMachine& machine, const Key& key) {
  constexpr std::int64_t rows = 200, sweeps = 100;
  State state = machine.independent_sample(key.fold_in(0), rows);
  gibbs(machine, state, key.fold_in(1), sweeps);
  ObservedMoments moments;
  for (const std::size_t layer : machine.observed())
    moments.push_back(machine.unit(layer).moments(state.layers[layer], {}));
  // Few and dependent samples: smooth by as much as one of them could be wrong.
  return base_rate_parameters(machine, moments, 1.0 / rows);
}

}  // namespace harmonium
