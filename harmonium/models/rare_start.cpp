#include "harmonium/models/rare_start.h"

#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/spike_slab.h"

namespace harmonium {

namespace {

bool has_spikes(const Unit& unit) { return dynamic_cast<const SpikeSlab*>(&unit) != nullptr; }
std::int64_t spike_count(const Unit& unit) { return dynamic_cast<const SpikeSlab&>(unit).spikes(); }

}  // namespace

bool has_rare_start(const BoltzmannMachine& machine) {
  const auto& edges = machine.topology().edges;
  return machine.layers().size() == 2 && edges.size() == 1 && edges[0].lower == 0 && edges[0].upper == 1 &&
         machine.unit(0).spec().starts_with("gaussian") &&
         rare_start_scale(machine.unit(0).width(), machine.unit(1)).has_value();
}

std::optional<double> rare_start_scale(std::int64_t visible, const Unit& hidden) {
  const auto D = static_cast<double>(visible), N = static_cast<double>(hidden.width());
  if (hidden.support() == Unit::Support::bits) return std::sqrt(2 / (D + N));
  constexpr double strength = 0.4;  // about the largest eigenvalue of what slabs take from the precision
  if (has_spikes(hidden)) return std::sqrt(strength) / (std::sqrt(D) + std::sqrt(N));
  return std::nullopt;
}

void start_rare(BoltzmannMachine& machine, const Key& key, double scale, std::optional<double> asked) {
  require(has_rare_start(machine), "a rare start is for gaussian visible and binary or spike-and-slab hidden units");
  const bool spikes = has_spikes(machine.unit(1));
  const double share = asked.value_or(spikes ? 0.05 : 0.01);
  require(share > 0, "a rare start needs a positive share, not {}", share);
  const Topology& topology = machine.topology();
  Moments& parameters = machine.parameters();
  const auto& visible = topology.layers[0].parameters;
  const at::Tensor a = parameters[visible.at(0)], precision = parameters[visible.at(1)].expand_as(a).unsqueeze(1);
  at::Tensor& weights = parameters[topology.edges[0].weights];
  weights.copy_(normal(key, weights.sizes(), weights.options()).mul_(scale).mul_(precision.sqrt()));
  if (spikes) {
    const auto& own = topology.layers[1].parameters;  // bias, precision, spike
    const at::Tensor alpha = parameters[own.at(1)];
    // Weights beyond the limit are the caller's wish; training brings them back.
    const at::Tensor beta = at::max(alpha - (weights.square() / precision).sum(0), 1e-3 * alpha);
    const at::Tensor gamma = (weights * a.unsqueeze(1) / precision).sum(0) + parameters[own.at(0)];
    const at::Tensor gain = 0.5 * (2 * std::numbers::pi / beta).log() + gamma.square() / (2 * beta);
    at::Tensor spike = parameters[own.at(2)].view({spike_count(machine.unit(1)), -1});
    spike.zero_().select(1, 0).copy_(std::log(share) - gain.view_as(spike).sum(1));
    return;
  }
  const at::Tensor gain = (weights * (weights + 2 * a.unsqueeze(1)) / precision).sum(0);
  parameters[topology.layers[1].parameters.at(0)].copy_(std::log(share) - 0.5 * gain);
}

}  // namespace harmonium
