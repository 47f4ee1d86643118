// What tests of tempered samplers share: bases, and a machine with two modes that Gibbs sampling does not leave.
#pragma once

#include "harmonium/samplers/gibbs.h"
#include "harmonium/samplers/tempered_line.h"
#include "tests/support/machines.h"

namespace harmonium::support {

// The machine's own layer parameters, a little off, without weights.
inline Moments some_base(const BoltzmannMachine& machine) {
  Moments base = machine.parameters().map([](const at::Tensor& x) { return 0.8 * x; });
  for (const EdgeInfo& edge : machine.topology().edges) base[edge.weights].zero_();
  return base;
}

// A ferromagnet: all units on or all units off, with 20 nats of barrier between. The tilt makes "on" the likelier one.
inline BoltzmannMachine two_modes(double tilt = 0.1) {
  BoltzmannMachine machine = make_rbm("bernoulli:10", "bernoulli:6", at::kDouble);
  machine.parameters()["visible_hidden.weights"].fill_(2);
  machine.parameters()["visible.bias"].fill_(-6 + tilt);
  machine.parameters()["hidden.bias"].fill_(-10);
  return machine;
}

// 1 for rows with more than half of the visible units on.
inline at::Tensor is_on(const State& state) { return state.layers[0].mean(1).gt(0.5).to(at::kDouble); }

// The share of "on", by enumeration.
inline double probability_on(const BoltzmannMachine& machine) {
  const State all{{machine.unit(0).states(at::arange(1024, at::kLong), at::kDouble), {}}};
  return at::softmax(machine.log_sum_out(all, {1}), 0).dot(is_on(all)).item<double>();
}

// Three layers, each joined to both others: no two blocks.
inline BoltzmannMachine triangle() {
  std::vector<Layer> layers;
  for (const std::string name : {"a", "b", "c"}) layers.push_back({name, make_unit("bernoulli:2"), name == "a"});
  return {layers, {{"a", "b"}, {"b", "c"}, {"a", "c"}}, at::kDouble};
}

// Every row with all units off.
inline State all_off(const BoltzmannMachine& machine, std::int64_t rows) {
  State state;
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    state.layers.push_back(at::zeros({rows, machine.unit(layer).width()}, at::kDouble));
  return state;
}

}  // namespace harmonium::support
