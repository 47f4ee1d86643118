#include "harmonium/models/moved_units.h"

#include "harmonium/core/error.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

BoltzmannMachine in_units_of(const BoltzmannMachine& machine, const at::Tensor& mean, const at::Tensor& deviation) {
  const LayerInfo& visible = machine.topology().layers.front();
  require(visible.parameters.size() == 2 && machine.unit(0).support() == Unit::Support::reals,
          "only Gaussian visible units have other units of measurement, not {}", machine.unit(0).spec());
  // Precisions that were held alike, or at 1, are no longer so in other units.
  std::vector<Layer> layers = machine.layers();
  layers.front().unit = std::make_shared<Gaussian>(visible.width);
  std::vector<Edge> edges;
  for (const EdgeInfo& edge : machine.topology().edges)
    edges.push_back({layers[edge.lower].name, layers[edge.upper].name});
  BoltzmannMachine moved = BoltzmannMachine(layers, edges).with_parameters(machine.parameters());
  moved = moved.to(at::TensorOptions(at::kDouble).device(machine.device()));
  const at::Tensor m = mean.to(moved.options()), s = deviation.to(moved.options());
  Moments& theta = moved.parameters();
  at::Tensor bias = theta[visible.parameters[0]], precision = theta[visible.parameters[1]];
  precision.div_(s * s);
  bias.div_(s).add_(precision * m);
  for (const EdgeInfo& edge : machine.topology().edges) {
    require(!edge.inner(), "a machine with edges inside a layer cannot change its units of measurement");
    if (edge.lower != 0 && edge.upper != 0) continue;
    at::Tensor weights = theta[edge.weights];
    const std::size_t other = edge.lower == 0 ? edge.upper : edge.lower;
    weights.div_(edge.lower == 0 ? s.unsqueeze(1) : s);
    theta[machine.topology().layers[other].parameters.front()].sub_(edge.lower == 0 ? m.matmul(weights)
                                                                                    : weights.matmul(m));
  }
  return moved.to(machine.options());
}

}  // namespace harmonium
