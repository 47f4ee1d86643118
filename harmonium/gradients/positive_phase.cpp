#include "harmonium/gradients/positive_phase.h"

#include "harmonium/core/error.h"

namespace harmonium {

Moments data_moments(const BoltzmannMachine& machine, const State& data) {
  for (const EdgeInfo& edge : machine.topology().edges)
    require(
        !edge.inner() || machine.layers()[edge.lower].observed,
        "units of the hidden layer '{}' are joined to each other: their posterior has no closed form, so this machine "
        "cannot be trained without approximate inference",
        machine.layers()[edge.lower].name);
  for (const EdgeInfo& edge : machine.topology().edges)
    require(machine.layers()[edge.lower].observed || machine.layers()[edge.upper].observed,
            "hidden layers '{}' and '{}' are joined: their posterior has no closed form, so this machine cannot be "
            "trained without approximate inference",
            machine.layers()[edge.lower].name, machine.layers()[edge.upper].name);
  const CodedState coded = data;  // once for both products
  return machine.moments(coded, machine.fields(machine.hidden(), coded));
}

}  // namespace harmonium
