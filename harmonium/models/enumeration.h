// Walking through all states of a machine: some layers enumerated, one block of the others summed out in closed form.
//
// The cost is (states of the enumerated layers) × (one field of the summed ones): an RBM with 20 hidden units is 2^20
// rows of matrix products, done in blocks of rows, in float64.
#pragma once

#include <functional>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// 2^25 states are seconds to minutes; a caller who asks for more should say so.
inline constexpr int enumeration_bits = 25;

struct EnumerationPlan {
  LayerSet enumerated, summed;
  double states = 0;  // how many rows will be visited

  [[nodiscard]] std::string describe(const BoltzmannMachine& machine) const;  // "2^20 states of hidden"
};

// The cheapest plan that exists; fails when even that exceeds 2^max_bits states.
[[nodiscard]] EnumerationPlan plan_enumeration(const BoltzmannMachine& machine, int max_bits);
// Whether there is one.
[[nodiscard]] bool can_enumerate(const BoltzmannMachine& machine, int max_bits = enumeration_bits);

// States by number, 0 … states−1: the enumerated layers of every row.
[[nodiscard]] State enumerated_states(const BoltzmannMachine& machine, const EnumerationPlan& plan,
                                      const at::Tensor& numbers);

// Visits all states in chunks, in the order of their numbers: state (enumerated layers defined), and log Σ_summed
// e^{−E} of every row (float64). The machine must be in float64. `progress(done, total)` may throw to stop.
void for_each_state(const BoltzmannMachine& machine, const EnumerationPlan& plan,
                    const std::function<void(const State&, const at::Tensor& log_weight)>& visit,
                    const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace harmonium
