#include "harmonium/models/rare_start.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

bool has_rare_start(const BoltzmannMachine& machine) {
  const auto& edges = machine.topology().edges;
  return machine.layers().size() == 2 && edges.size() == 1 && edges[0].lower == 0 && edges[0].upper == 1 &&
         machine.unit(0).spec().starts_with("gaussian") && machine.unit(1).support() == Unit::Support::bits;
}

double rare_start_scale(std::int64_t visible, std::int64_t hidden) {
  return std::sqrt(2.0 / static_cast<double>(visible + hidden));
}

void start_rare(BoltzmannMachine& machine, const Key& key, double scale, double share) {
  require(has_rare_start(machine), "a rare start is for gaussian visible and binary hidden units");
  require(share > 0, "a rare start needs a positive share, not {}", share);
  const Topology& topology = machine.topology();
  Moments& parameters = machine.parameters();
  const auto& visible = topology.layers[0].parameters;
  const at::Tensor a = parameters[visible.at(0)], precision = parameters[visible.at(1)].expand_as(a).unsqueeze(1);
  at::Tensor& weights = parameters[topology.edges[0].weights];
  weights.copy_(normal(key, weights.sizes(), weights.options()).mul_(scale).mul_(precision.sqrt()));
  const at::Tensor gain = (weights * (weights + 2 * a.unsqueeze(1)) / precision).sum(0);
  parameters[topology.layers[1].parameters.at(0)].copy_(std::log(share) - 0.5 * gain);
}

}  // namespace harmonium
