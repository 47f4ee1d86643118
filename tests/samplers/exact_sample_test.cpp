#include "harmonium/samplers/exact_sample.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

// Chi-square over all joint states, false-alarm rate 1e-6 for each machine.
TEST(ExactSample, HasTheProbabilitiesOfTheModel) {
  for (const support::MachineCase& one : support::and_general(support::and_inner(support::all_machines()))) {
    const BoltzmannMachine machine = one.make();
    if (machine.parameters().entries().size() != machine.layers().size() + machine.topology().edges.size()) continue;
    SCOPED_TRACE(one.name);
    const support::BruteForce brute(machine);
    const State state = exact_sample(machine, Key(30), 50'000);
    support::expect_frequencies(support::count_configurations(state, brute.configurations), brute.probabilities);
  }
}

// Continuous units have no frequencies; their moments must agree, 5.5 standard errors each.
TEST(ExactSample, HasTheMomentsOfAGaussianMachine) {
  const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:2", "bernoulli:2", at::kDouble), 31);
  const State state = exact_sample(machine, Key(32), 50'000);
  const support::BruteForce brute(machine);
  at::Tensor mean = at::zeros({2}, at::kDouble), square = at::zeros({2}, at::kDouble);
  for (std::size_t n = 0; n < brute.configurations.size(); ++n)
    for (std::size_t i = 0; i < 2; ++i) {
      const auto place = static_cast<std::int64_t>(i);
      mean[place] += brute.probabilities[n] * brute.configurations[n][0][i];
      square[place] += brute.probabilities[n] * brute.configurations[n][0][i] * brute.configurations[n][0][i];
    }
  support::expect_mean(state.layers[0], mean);
  support::expect_mean(state.layers[0].square(), square);
}

TEST(ExactSample, ReachesBeyondTheFirstChunkOfStates) {
  // 2^18 states of 20 visible units are enumerated in chunks; strong biases put the mass on one state at the end.
  BoltzmannMachine machine = make_rbm("bernoulli:40", "bernoulli:18", at::kDouble);
  machine.parameters()["hidden.bias"].fill_(30);
  const State state = exact_sample(machine, Key(33), 5);
  EXPECT_TRUE(state.layers[1].eq(1).all().item<bool>());
  // A fair machine: every hidden unit is on half of the time, whichever chunk its states lie in (5.5 σ).
  machine.parameters()["hidden.bias"].zero_();
  const at::Tensor mean = exact_sample(machine, Key(34), 10'000).layers[1].mean(0);
  EXPECT_TRUE((mean - 0.5).abs().lt(5.5 * 0.5 / 100).all().item<bool>()) << mean;
}

TEST(ExactSample, KeepsThePrecisionOfTheMachineAndItsSeed) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:5", "bernoulli:3"), 35);
  const State one = exact_sample(machine, Key(36), 20), again = exact_sample(machine, Key(36), 20),
              other = exact_sample(machine, Key(37), 20);
  EXPECT_EQ(one.layers[0].scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(one.layers[0], again.layers[0]));
  EXPECT_FALSE(at::equal(one.layers[0], other.layers[0]));
  EXPECT_THROW(static_cast<void>(exact_sample(make_rbm("bernoulli:60", "bernoulli:60"), Key(1), 5)), Error);
  EXPECT_THROW(static_cast<void>(exact_sample(machine, Key(1), 0)), Error);
}

}  // namespace
}  // namespace harmonium
