#include "harmonium/likelihood/belief_net_bound.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

namespace {

// log Σ over all layers but the visible one.
at::Tensor summed_above(const BoltzmannMachine& machine, const at::Tensor& visible) {
  const State state = state_with(machine, 0, visible);
  const std::size_t hidden = machine.hidden().front();
  if (machine.observed().size() == 1) return machine.log_sum_out(state, {hidden});
  // A label joined to the hidden layer: every class with the hidden layer summed out.
  const std::size_t label = machine.observed()[1];
  const std::int64_t classes = machine.unit(label).width();
  std::vector<at::Tensor> parts;
  for (std::int64_t c = 0; c < classes; ++c) {
    State one = state;
    one.layers[label] = at::zeros_like(state.layers[label]);
    one.layers[label].select(1, c).fill_(1);
    parts.push_back(machine.log_sum_out(one, {hidden}));
  }
  return at::stack(parts, 1).logsumexp(1);
}

at::Tensor summed_below(const BoltzmannMachine& machine, const at::Tensor& hidden) {
  return machine.log_sum_out(state_with(machine, machine.hidden().front(), hidden), {0});
}

}  // namespace

at::Tensor belief_net_log_weights(const BeliefNet& net, const at::Tensor& visible, const Key& key) {
  require_belief_net(net);
  const std::vector<at::Tensor> drawn = up_sample(net.up, visible, key);
  at::Tensor total = at::zeros({visible.size(0)}, at::kDouble);
  for (std::size_t l = 0; l + 1 < net.down.size(); ++l) {
    const at::Tensor& lower = l == 0 ? visible : drawn[l - 1];
    total += summed_above(net.up[l], lower) - summed_below(net.down[l], drawn[l]);
    if (!net.tied)
      total += net.down[l].log_potential(joined_state(net.down[l], lower, drawn[l])) -
               net.up[l].log_potential(joined_state(net.up[l], lower, drawn[l]));
  }
  return total + summed_above(net.top(), drawn.empty() ? visible : drawn.back());
}

Estimate belief_net_bound(const BeliefNet& net, const at::Tensor& visible, const Estimate& top_log_z,
                          std::int64_t draws, const Key& key) {
  require(draws >= 1, "the bound of a belief net needs at least one draw, not {}", draws);
  require(visible.size(0) >= 1, "the bound of a belief net needs rows");
  if (net.down.size() == 1) draws = 1;  // nothing is drawn
  constexpr std::int64_t rows_at_once = 2000;
  const std::int64_t rows = visible.size(0);
  double sum = 0, noise = 0;  // noise: variance of the mean of all rows, from the spread between draws of a row
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const at::Tensor piece = visible.narrow(0, first, std::min(rows_at_once, rows - first));
    std::vector<at::Tensor> found;
    for (std::int64_t draw = 0; draw < draws; ++draw)
      found.push_back(belief_net_log_weights(
          net, piece, key.fold_in(static_cast<std::uint64_t>(draw)).fold_in(static_cast<std::uint64_t>(first))));
    const at::Tensor all = at::stack(found, 1);
    sum += all.mean(1).sum().item<double>();
    if (draws > 1) noise += all.var(1).sum().item<double>() / static_cast<double>(draws);
  }
  const auto n = static_cast<double>(rows);
  Estimate bound = log_likelihood(sum / n, top_log_z);
  const double half = 1.96 * std::sqrt(noise) / n;
  bound.low -= half;
  bound.high += half;
  if (net.down.size() > 1) {
    if (bound.kind == EstimateKind::exact) bound.kind = EstimateKind::lower_bound;
    if (bound.kind == EstimateKind::upper_bound) bound.kind = EstimateKind::estimate;  // of a bound from below
    bound.method = format("belief net, {} draws of the way up; top log Z: {}", draws, top_log_z.method);
  }
  return bound;
}

}  // namespace harmonium
