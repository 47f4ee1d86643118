#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

Ascent::Ascent(Moments parameters, std::vector<ParameterGroup> groups, std::string name, Function function)
    : parameters_(std::move(parameters)),
      groups_(std::move(groups)),
      function_(std::move(function)),
      mean_(std::move(name), parameters_.entries().front().second) {}

Moments Ascent::gradient(const std::vector<at::Tensor>& batch, const Step& step) {
  Climb found = function_(batch, step.key);
  mean_.add(found.value);
  return std::move(found.gradient);
}

void Ascent::restore(const NamedTensors& saved) { mean_.restore(find_tensor(saved, "objective", "a checkpoint")); }

}  // namespace harmonium
