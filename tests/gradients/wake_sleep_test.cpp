#include "harmonium/gradients/wake_sleep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/gradients/exact_gradient.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::Bits;

// ∂f/∂x of every parameter whose name begins with one of `places`, by central differences; the others are left out.
template <class F>
Moments differences(const Moments& parameters, const std::vector<std::string>& places, F f) {
  constexpr double step = 1e-5;
  Moments result;
  for (const auto& [name, value] : parameters.entries()) {
    if (std::ranges::none_of(places, [&name = name](const std::string& place) { return name.starts_with(place); }))
      continue;
    at::Tensor flat = value.view(-1), found = at::zeros_like(flat);
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      const double before = flat[i].template item<double>();
      const auto value_at = [&](double x) {
        flat[i].fill_(x);
        return f();
      };
      found[i] = (value_at(before + step) - value_at(before - step)) / (2 * step);
      flat[i].fill_(before);
    }
    result.insert(name, found.view(value.sizes()));
  }
  return result;
}

// States with their probabilities, as tensors from the data up.
struct Weighted {
  std::vector<at::Tensor> layers;
  at::Tensor weights;
};
struct Collector {
  std::vector<std::vector<Bits>> layers{3};
  std::vector<double> weights;

  void add(const Bits& visible, const Bits& first, const Bits& second, double weight) {
    layers[0].push_back(visible);
    layers[1].push_back(first);
    layers[2].push_back(second);
    weights.push_back(weight);
  }
  [[nodiscard]] Weighted collected() const {
    return {{support::to_rows(layers[0]), support::to_rows(layers[1]), support::to_rows(layers[2])},
            at::tensor(weights, at::kDouble)};
  }
};

// All h_1, h_2 given v under the way up, and all v, h_1, h_2 under the net itself.
Weighted awake(const BeliefNet& net, const Bits& visible) {
  Collector all;
  for (const Bits& first : support::all_bits(3))
    for (const Bits& second : support::all_bits(3))
      all.add(visible, first, second,
              std::exp(support::log_given_visible(net.up[0], visible, first) +
                       support::log_given_visible(net.up[1], first, second)));
  return all.collected();
}
Weighted asleep(const BeliefNet& net) {
  Collector all;
  for (const Bits& second : support::all_bits(3))
    for (const Bits& first : support::all_bits(3))
      for (const Bits& visible : support::all_bits(4))
        all.add(visible, first, second,
                std::exp(support::log_top_probability(net.top(), second) +
                         support::log_given_hidden(net.down[1], first, second) +
                         support::log_given_hidden(net.down[0], visible, first)));
  return all.collected();
}

// What wake_sleep_gradient() gives on average over all that it may draw.
Moments expected_gradient(const BeliefNet& net, const Bits& visible, std::int64_t label = -1) {
  const Weighted wake = awake(net, visible), sleep = asleep(net);
  Moments all;
  const auto add = [&](const std::string& place, const Moments& part) {
    for (const auto& [name, value] : part.entries()) all.insert(place + name, value);
  };
  for (std::size_t l = 0; l < 2; ++l)
    add(format("machine{}/", l + 1),
        conditional_gradient(net.down[l], 0, joined_state(net.down[l], wake.layers[l], wake.layers[l + 1]),
                             wake.weights));
  State top = state_with(net.top(), 0, wake.layers[2]);
  if (label >= 0) top.layers[net.top().observed()[1]].select(1, label).fill_(1);
  add("machine3/",
      net.top().moments(top, net.top().fields(net.top().hidden(), top), wake.weights) - exact_moments(net.top()));
  for (std::size_t l = 0; l < 2; ++l)
    add(format("recognition{}/", l + 1),
        conditional_gradient(net.up[l], net.up[l].hidden().front(),
                             joined_state(net.up[l], sleep.layers[l], sleep.layers[l + 1]), sleep.weights));
  return all;
}

// Central differences of step 1e-5 err by about 1e-10.
constexpr double difference_error = 1e-8;

TEST(WakeSleep, AwakeClimbsTheBound) {
  for (const std::int64_t label : {-1, 2}) {
    SCOPED_TRACE(label);
    const BeliefNet net = support::small_untied_net(label >= 0);
    const Bits visible = {1, 0, 1, 1};
    const Moments expected =
        differences(parameters_of(net), {"machine"}, [&] { return support::exact_bound(net, visible, label); });
    const Moments found = expected_gradient(net, visible, label);
    for (const auto& [name, value] : expected.entries())
      support::expect_close(found[name], value, difference_error, name);
    EXPECT_GT(norm(expected), 0.1);
  }
}

TEST(WakeSleep, AsleepClimbsTheExpectedLogProbabilityOfTheWayUpUnderTheNet) {
  const BeliefNet net = support::small_untied_net();
  const Weighted all = asleep(net);
  EXPECT_NEAR(all.weights.sum().item<double>(), 1, 1e-12);
  // Another derivation of log r: by the field and its logistic function, not by energies and sums.
  const auto log_up = [](const BoltzmannMachine& machine, const at::Tensor& lower, const at::Tensor& upper) {
    const at::Tensor field =
        at::addmm(machine.parameters()["hidden.bias"], lower, machine.parameters()["visible_hidden.weights"]);
    return (upper * at::log_sigmoid(field) + (1 - upper) * at::log_sigmoid(-field)).sum(1);
  };
  const Moments expected = differences(parameters_of(net), {"recognition"}, [&] {
    return (all.weights *
            (log_up(net.up[0], all.layers[0], all.layers[1]) + log_up(net.up[1], all.layers[1], all.layers[2])))
        .sum()
        .item<double>();
  });
  const Moments found = expected_gradient(net, {0, 0, 0, 0});
  for (const auto& [name, value] : expected.entries())
    support::expect_close(found[name], value, difference_error, name);
  EXPECT_GT(norm(expected), 0.1);
}

// Means of independent estimates within 5.5 standard errors (support/statistics.h). Chains of the top machine, with
// five or eight units and weights of size one, are mixed after 60 sweeps.
TEST(WakeSleep, EstimatesBothFromDraws) {
  for (const std::int64_t label : {-1, 1}) {
    SCOPED_TRACE(label);
    const BeliefNet net = support::small_untied_net(label >= 0);
    const Bits visible = {1, 0, 0, 1};
    constexpr std::int64_t rows = 400;
    const at::Tensor data = support::to_rows({visible}).expand({rows, 4});
    const at::Tensor labels =
        label < 0 ? at::Tensor() : at::one_hot(at::full({rows}, label, at::kLong), 3).to(at::kDouble);
    const auto phase = make_negative_phase("cd", {.sweeps = 60});
    std::vector<at::Tensor> found;
    for (std::uint64_t i = 0; i < 100; ++i)
      found.push_back(wake_sleep_gradient(net, *phase, data, labels, Key(7).fold_in(i)).gradient.flatten());
    const Moments expected = expected_gradient(net, visible, label);
    EXPECT_EQ(parameters_of(net).dimension(), expected.dimension());
    support::expect_mean(at::stack(found), expected.flatten());
  }
}

// Biases of the side that is given: a rounding error there would be a large step for adam.
TEST(WakeSleep, LeavesWhatNoConditionalDependsOnAsItIs) {
  const BeliefNet net = support::small_untied_net();
  const auto phase = make_negative_phase("cd", {.sweeps = 1});
  const at::Tensor data = uniform(Key(1), {50, 4}, at::kDouble).lt(0.5).to(at::kDouble);
  const WakeSleepGradient found = wake_sleep_gradient(net, *phase, data, {}, Key(3));
  for (const std::string name :
       {"machine1/hidden.bias", "machine2/hidden.bias", "recognition1/visible.bias", "recognition2/visible.bias"})
    EXPECT_TRUE(found.gradient[name].eq(0).all().item<bool>()) << name;
  EXPECT_EQ(found.states.awake.size(), 3U);
  EXPECT_EQ(found.states.asleep.size(), 3U);
  EXPECT_EQ(found.states.asleep[0].size(1), 4);
}

TEST(WakeSleep, HasTheGradientOfConditionalsOfAllUnits) {
  for (const support::MachineCase& one : support::shallow_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    State state = machine.independent_sample(Key(4), 6);
    for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
      const Moments expected = differences(
          machine.parameters(), {""}, [&] { return log_conditional(machine, layer, state).mean().item<double>(); });
      support::expect_close(conditional_gradient(machine, layer, state), expected, difference_error);
    }
  }
}

TEST(WakeSleep, RefusesNetsAndBatchesThatDoNotFit) {
  const auto phase = make_negative_phase("cd", {});
  const at::Tensor data = at::zeros({2, 4}, at::kDouble);
  support::expect_mentions(
      support::message_of([&] { (void)wake_sleep_gradient(support::small_belief_net(), *phase, data, {}, Key(1)); }),
      {"weights of its own"});
  support::expect_mentions(support::message_of([&] {
                             (void)wake_sleep_gradient(support::small_untied_net(true), *phase, data, {}, Key(1));
                           }),
                           {"label"});
}

}  // namespace
}  // namespace harmonium
