#include "harmonium/gradients/wake_sleep.h"

#include "harmonium/core/error.h"
#include "harmonium/inference/data_moments.h"

namespace harmonium {

namespace {

// Streams of an update's key, by purpose.
enum : std::uint64_t { wake_stream = 1, chain_stream = 2, sleep_stream = 3 };

}  // namespace

Moments conditional_gradient(const BoltzmannMachine& machine, std::size_t layer, const State& state,
                             const at::Tensor& weights) {
  const CodedState coded = state;  // once for both
  Fields fields(machine.layers().size());
  fields[layer] = machine.field(layer, coded);
  Moments gradient = machine.moments(coded, {}, weights);
  return gradient.add_(machine.moments(coded, std::move(fields), weights), -1);
}

WakeSleepGradient wake_sleep_gradient(const BeliefNet& net, NegativePhase& top_phase, const at::Tensor& visible,
                                      const at::Tensor& label, const Key& key) {
  require(!net.tied && net.down.size() >= 2, "up–down needs a belief net whose way up has weights of its own");
  require(net.labelled() == label.defined(), "up–down: the net {} a label, the batch {}",
          net.labelled() ? "has" : "has no", label.defined() ? "has one" : "has none");
  const std::size_t directed = net.down.size() - 1;
  WakeSleepGradient result;
  std::vector<at::Tensor>& awake = result.states.awake;
  awake.push_back(visible);
  for (at::Tensor& drawn : up_sample(net.up, visible, key.fold_in(wake_stream))) awake.push_back(std::move(drawn));
  // In the order of parameters_of().
  const auto add = [&](const std::string& place, const Moments& part) {
    for (const auto& [name, value] : part.entries()) result.gradient.insert(place + name, value);
  };
  for (std::size_t l = 0; l < directed; ++l)
    add(format("machine{}/", l + 1),
        conditional_gradient(net.down[l], 0, joined_state(net.down[l], awake[l], awake[l + 1])));

  const BoltzmannMachine& top = net.top();
  std::vector<at::Tensor> observed = {awake.back()};
  if (label.defined()) observed.push_back(label.to(top.options()));
  const State data = top.observe(observed);
  Moments gradient = data_moments(top, data);
  top_phase.subtract_model_moments(gradient, top, data, key.fold_in(chain_stream));
  top_phase.observe_gradient(gradient);
  add(format("machine{}/", directed + 1), gradient);

  const State& chains = top_phase.particles();
  require(!chains.layers.empty(), "up–down needs a negative phase with chains, and '{}' has none", top_phase.name());
  result.states.asleep = dream(net.down, chains.layers[0], key.fold_in(sleep_stream));
  const std::vector<at::Tensor>& asleep = result.states.asleep;
  for (std::size_t l = 0; l < directed; ++l)
    add(format("recognition{}/", l + 1),
        conditional_gradient(net.up[l], net.up[l].hidden().front(), joined_state(net.up[l], asleep[l], asleep[l + 1])));
  return result;
}

}  // namespace harmonium
