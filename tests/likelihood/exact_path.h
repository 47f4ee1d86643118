// Annealing by matrices: every distribution of a path as a table over the kept states, every Gibbs sweep as a matrix.
#pragma once

#include "harmonium/likelihood/annealing_path.h"
#include "harmonium/models/enumeration.h"
#include "tests/support/machines.h"

namespace harmonium::support {

class ExactPath {
 public:
  // `machines` are those of the places, base first.
  ExactPath(const std::vector<BoltzmannMachine>& machines, const LayerSet& kept, const LayerSet& summed) {
    const EnumerationPlan all{.enumerated = kept, .summed = summed, .states = states_of(machines[0], kept)};
    const auto kept_states = static_cast<std::int64_t>(all.states),
               summed_states = static_cast<std::int64_t>(states_of(machines[0], summed));
    x = enumerated_states(machines[0], all, at::arange(kept_states, at::kLong));
    const State y = enumerated_states(machines[0], {.enumerated = summed, .summed = kept, .states = 0},
                                      at::arange(summed_states, at::kLong));
    State joint;
    joint.layers.resize(machines[0].layers().size());
    for (const std::size_t layer : kept) joint.layers[layer] = x.layers[layer].repeat_interleave(summed_states, 0);
    for (const std::size_t layer : summed) joint.layers[layer] = y.layers[layer].repeat({kept_states, 1});
    for (const BoltzmannMachine& machine : machines) {
      const at::Tensor weight = machine.log_potential(joint).exp().reshape({kept_states, summed_states});
      f.push_back(weight.sum(1));
      sweeps.push_back((weight / weight.sum(1, true)).mm((weight / weight.sum(0, true)).t()));
    }
  }

  // log Z of place k.
  [[nodiscard]] double log_z(std::size_t k) const { return f[k].sum().log().item<double>(); }
  // What arrives at the top when draws of the base are sent up by the sweeps of places 1 … K.
  [[nodiscard]] at::Tensor arriving() const {
    at::Tensor p = f[0] / f[0].sum();
    for (std::size_t k = 1; k < f.size(); ++k) p = p.matmul(sweeps[k]);
    return p;
  }

  State x;                            // all kept states
  std::vector<at::Tensor> f, sweeps;  // per place: Σ_summed e^{−E} of every kept state, and p(x' | x)

 private:
  static double states_of(const BoltzmannMachine& machine, const LayerSet& layers) {
    double count = 1;
    for (const std::size_t layer : layers) count *= *machine.unit(layer).state_count();
    return count;
  }
};

// Machines on the straight line from one to the other.
inline std::vector<BoltzmannMachine> between(const BoltzmannMachine& start, const BoltzmannMachine& end,
                                             const std::vector<double>& fractions) {
  std::vector<BoltzmannMachine> result;
  for (const double t : fractions)
    result.push_back(start.with_parameters(start.parameters().clone().lerp_(end.parameters(), t)));
  return result;
}

}  // namespace harmonium::support
