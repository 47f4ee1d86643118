#include "harmonium/samplers/belief_net_samples.h"

#include "harmonium/core/error.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/samplers/tempered_line.h"

namespace harmonium {

namespace {

// Streams of a key, by purpose.
enum : std::uint64_t { start_draw = 1, chain_draws = 2, down_draws = 3, visible_draw = 4, later_looks = 5 };

// The data's units given states of the top machine, a draw of every layer between.
BeliefNetSamples look_down(const MachineStack& stack, const State& state, const Key& key) {
  const at::Tensor first = stack.size() == 1 ? state.layers[stack.back().hidden().front()]
                                             : down_sample(stack, state.layers[0], key.fold_in(down_draws));
  const at::Tensor field = visible_field(stack, first);
  const Unit& unit = stack.front().unit(0);
  const Unit::Parameters parameters = stack.front().layer_parameters(0);
  return {.means = unit.mean(field, parameters), .visible = unit.sample(key.fold_in(visible_draw), field, parameters)};
}

// Holds the classes in the states; the layer that does.
LayerSet hold_labels(const BoltzmannMachine& top, State& state, const at::Tensor& labels) {
  require(labels.dim() == 1 && labels.scalar_type() == at::kLong && labels.size(0) == state.rows(),
          "classes to hold are a list of whole numbers, one for each chain");
  const std::size_t layer = label_layer(top);
  const std::int64_t classes = top.unit(layer).width();
  const auto least = labels.min().item<std::int64_t>(), most = labels.max().item<std::int64_t>();
  require(least >= 0 && most < classes, "label {}: the belief net knows the classes 0 … {}", least < 0 ? least : most,
          classes - 1);
  state.layers[layer] = at::one_hot(labels, classes).to(top.options());
  return {layer};
}

}  // namespace

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const BeliefNetWalk& walk) {
  require_belief_net(net);
  require(walk.chains >= 1 && walk.looks >= 1 && walk.sweeps >= 0 && walk.every >= 1,
          "a belief net gives {} × {} samples after {} sweeps, then every {}; all must be positive", walk.chains,
          walk.looks, walk.sweeps, walk.every);
  const BoltzmannMachine& top = net.top();
  const BoltzmannMachine start = walk.from_noise ? top.with_parameters(uniform_parameters(top)) : top;
  State state = start.independent_sample(key.fold_in(start_draw), walk.chains);
  LayerSet held;
  if (walk.labels.defined()) held = hold_labels(top, state, walk.labels);
  std::vector<at::Tensor> means, visible;
  for (std::int64_t look = 0; look < walk.looks; ++look) {
    // The first look has the keys that a single look always had.
    const Key here = look == 0 ? key : key.fold_in(later_looks).fold_in(static_cast<std::uint64_t>(look));
    gibbs(top, state, here.fold_in(chain_draws), look == 0 ? walk.sweeps : walk.every, held);
    const BeliefNetSamples seen = look_down(net.down, state, here);
    means.push_back(seen.means);
    visible.push_back(seen.visible);
  }
  const auto by_chain = [](const std::vector<at::Tensor>& looks) { return at::stack(looks, 1).flatten(0, 1); };
  return {.means = by_chain(means), .visible = by_chain(visible)};
}

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, std::int64_t count, std::int64_t sweeps,
                                   std::optional<std::int64_t> label) {
  return sample_belief_net(
      net, key,
      {.chains = count, .sweeps = sweeps, .labels = label ? at::full({count}, *label, at::kLong) : at::Tensor()});
}

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const at::Tensor& labels,
                                   std::int64_t sweeps) {
  return sample_belief_net(net, key, {.chains = labels.size(0), .sweeps = sweeps, .labels = labels});
}

}  // namespace harmonium
