#include "harmonium/samplers/belief_net_samples.h"

#include "harmonium/core/error.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

// Streams of a key, by purpose.
enum : std::uint64_t { start_draw = 1, chain_draws = 2, down_draws = 3, visible_draw = 4 };

}  // namespace

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, std::int64_t count, std::int64_t sweeps,
                                   std::optional<std::int64_t> label) {
  require_belief_net(net);
  const MachineStack& stack = net.down;
  require(count >= 1 && sweeps >= 0, "a belief net gives {} samples after {} sweeps; both must be positive", count,
          sweeps);
  const BoltzmannMachine& top = stack.back();
  State state = top.independent_sample(key.fold_in(start_draw), count);
  LayerSet held;
  if (label) {
    const std::size_t layer = label_layer(top);
    const std::int64_t classes = top.unit(layer).width();
    require(*label >= 0 && *label < classes, "label {}: the belief net knows the classes 0 … {}", *label, classes - 1);
    state.layers[layer] = at::one_hot(at::full({count}, *label, at::kLong), classes).to(top.options());
    held.push_back(layer);
  }
  gibbs(top, state, key.fold_in(chain_draws), sweeps, held);
  const at::Tensor first = stack.size() == 1 ? state.layers[top.hidden().front()]
                                             : down_sample(stack, state.layers[0], key.fold_in(down_draws));
  const at::Tensor field = visible_field(stack, first);
  const Unit& unit = stack.front().unit(0);
  const Unit::Parameters parameters = stack.front().layer_parameters(0);
  return {.means = unit.mean(field, parameters), .visible = unit.sample(key.fold_in(visible_draw), field, parameters)};
}

}  // namespace harmonium
