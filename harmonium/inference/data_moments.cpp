#include "harmonium/inference/data_moments.h"

#include "harmonium/core/error.h"

namespace harmonium {

Moments data_moments(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options) {
  if (!machine.hidden_joined()) {
    const CodedState coded = data;  // once for both products
    return machine.moments(coded, machine.fields(machine.hidden(), coded));
  }
  for (const std::size_t layer : machine.hidden())
    require(machine.unit(layer).parameter_names().size() == 1,
            "the hidden layer '{}' ({}) is joined to another hidden layer: mean field works for units with "
            "one parameter there (binary, softmax, cardinality, pooled, stepped)",
            machine.layers()[layer].name, machine.unit(layer).spec());
  // Under q units are independent, so that means of products are products of means.
  return machine.moments(infer(machine, data, options).means);
}

}  // namespace harmonium
