#include "harmonium/samplers/belief_net_samples.h"

#include "harmonium/core/error.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

// Streams of a key, by purpose.
enum : std::uint64_t { start_draw = 1, chain_draws = 2, down_draws = 3, visible_draw = 4 };

// `labels` may be undefined: then the top machine draws them, where it has any.
BeliefNetSamples sample_from(const BeliefNet& net, const Key& key, std::int64_t count, std::int64_t sweeps,
                             const at::Tensor& labels) {
  require_belief_net(net);
  const MachineStack& stack = net.down;
  require(count >= 1 && sweeps >= 0, "a belief net gives {} samples after {} sweeps; both must be positive", count,
          sweeps);
  const BoltzmannMachine& top = stack.back();
  State state = top.independent_sample(key.fold_in(start_draw), count);
  LayerSet held;
  if (labels.defined()) {
    const std::size_t layer = label_layer(top);
    const std::int64_t classes = top.unit(layer).width();
    const auto least = labels.min().item<std::int64_t>(), most = labels.max().item<std::int64_t>();
    require(least >= 0 && most < classes, "label {}: the belief net knows the classes 0 … {}", least < 0 ? least : most,
            classes - 1);
    state.layers[layer] = at::one_hot(labels, classes).to(top.options());
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

}  // namespace

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, std::int64_t count, std::int64_t sweeps,
                                   std::optional<std::int64_t> label) {
  return sample_from(net, key, count, sweeps, label ? at::full({count}, *label, at::kLong) : at::Tensor());
}

BeliefNetSamples sample_belief_net(const BeliefNet& net, const Key& key, const at::Tensor& labels,
                                   std::int64_t sweeps) {
  require(labels.dim() == 1 && labels.scalar_type() == at::kLong, "classes to hold are a list of whole numbers");
  return sample_from(net, key, labels.size(0), sweeps, labels);
}

}  // namespace harmonium
