// Gibbs sampling of machines whose whole distribution is known state by state. Every comparison is a chi-square with a
// false-alarm rate of 1e-6 and a fixed seed.
//
// Three claims that together leave no room: the exact distribution stays what it is (invariance), one sweep from a
// fixed state has the transition probabilities of the formula (so the sampler is not the identity), and a start that
// knows nothing is forgotten (so it is ergodic).
#include "harmonium/samplers/gibbs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::BruteForce;
using support::Configuration;
using support::Row;

constexpr std::int64_t rows = 100'000;

// One thread: these tests do many short steps, and threads that wait for each other on a busy machine take far longer.
class GibbsTest {
 private:
  const support::ThreadCount one_thread_{1};
};

class DiscreteGibbs : public testing::TestWithParam<support::MachineCase>, GibbsTest {
 protected:
  void expect_distribution(const State& state, const Row& probabilities) const {
    support::expect_frequencies(support::count_configurations(state, brute.configurations), probabilities);
  }
  // The distribution given that a layer has the value it has in configuration n.
  [[nodiscard]] Row given(std::size_t layer, std::size_t n) const {
    Row result = brute.probabilities;
    double total = 0;
    for (std::size_t m = 0; m < result.size(); ++m) {
      if (brute.configurations[m][layer] != brute.configurations[n][layer]) result[m] = 0;
      total += result[m];
    }
    for (double& p : result) p /= total;
    return result;
  }

  const BoltzmannMachine machine = GetParam().make();
  const BruteForce brute{machine};
};

TEST_P(DiscreteGibbs, LeavesTheExactDistributionAsItIs) {
  State state = support::draw_configurations(brute.configurations, brute.probabilities, rows, Key(1));
  expect_distribution(state, brute.probabilities);
  gibbs(machine, state, Key(2), 1);
  expect_distribution(state, brute.probabilities);
  gibbs(machine, state, Key(3), 3);
  expect_distribution(state, brute.probabilities);
}

TEST_P(DiscreteGibbs, MovesFromAFixedStateWithTheProbabilitiesOfTheFormula) {
  const std::size_t start = brute.configurations.size() / 3;
  Row expected(brute.configurations.size(), 0.0);
  expected[start] = 1;
  for (const LayerSet& block : machine.blocks()) expected = brute.resample(expected, block);
  State state = support::draw_configurations({brute.configurations[start]}, {1.0}, rows, Key(4));
  gibbs(machine, state, Key(5));
  expect_distribution(state, expected);
}

TEST_P(DiscreteGibbs, ForgetsAStartThatKnowsNothing) {
  State state = machine.independent_sample(Key(6), rows);
  gibbs(machine, state, Key(7), 20);
  expect_distribution(state, brute.probabilities);
}

TEST_P(DiscreteGibbs, KeepsClampedLayersAndSamplesTheOthersGivenThem) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const std::size_t value = brute.configurations.size() / 2 + 1;
    const Row conditional = given(layer, value);
    // From the wrong distribution, so that the clamped sweeps have to bring the conditional about.
    State state = machine.independent_sample(Key(8).fold_in(layer), rows);
    state.layers[layer] = support::to_tensor({brute.configurations[value][layer]}).repeat({rows, 1});
    const at::Tensor before = state.layers[layer].clone();
    gibbs(machine, state, Key(9).fold_in(layer), 15, {layer});
    EXPECT_TRUE(at::equal(state.layers[layer], before));
    expect_distribution(state, conditional);
  }
}

TEST(Gibbs, LeavesWhatItWasGivenWhereALayerIsMissing) {
  const BoltzmannMachine machine = make_rbm("bernoulli:4", "bernoulli:3", at::kDouble);
  State state;
  state.layers = {at::ones({5, 4}, at::kDouble), at::Tensor()};
  const at::Tensor before = state.layers[0];
  EXPECT_THROW(gibbs(machine, state, Key(1)), Error);
  EXPECT_THROW((void)walk_and_average(machine, state, Key(1)), Error);
  EXPECT_THROW((void)sample_layers(machine, state, Key(1), {0}), Error);
  ASSERT_EQ(state.layers.size(), 2U);
  EXPECT_TRUE(at::equal(state.layers[0], before));
  EXPECT_FALSE(state.layers[1].defined());
}

TEST_P(DiscreteGibbs, AveragesTheBlockDrawnLastByItsExpectation) {
  State state = support::draw_configurations(brute.configurations, brute.probabilities, 50, Key(10)), other = state;
  const Moments found = walk_and_average(machine, state, Key(11), 2);
  gibbs(machine, other, Key(11), 2);
  for (std::size_t layer = 0; layer < state.layers.size(); ++layer)
    EXPECT_TRUE(at::equal(state.layers[layer], other.layers[layer])) << layer;
  const LayerSet last = machine.without_inner_edges(machine.blocks().back());
  support::expect_close(found, machine.moments(state, machine.fields(last, state)), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Machines, DiscreteGibbs, testing::ValuesIn(support::discrete_machines()), support::case_name);

// Joint histogram of the hidden state and the quantile of one visible unit given it, which is uniform under p(v|h).
void expect_gaussian_rbm_distribution(const BoltzmannMachine& machine, const State& state) {
  constexpr std::int64_t bins = 16;
  const support::PlainMachine plain(machine);
  const std::vector<Row> hidden = plain.points(1).rows;
  const Row& bias = plain.layers[0].bias;
  Row log_weights, counts, probabilities;
  for (const Row& h : hidden) log_weights.push_back(plain.log_sum({{}, h}, {0}));
  const Row marginal = support::normalized(log_weights);
  for (std::size_t unit = 0; unit < bias.size(); ++unit) {
    counts.clear();
    probabilities.clear();
    for (std::size_t k = 0; k < hidden.size(); ++k) {
      double field = bias[unit];
      for (std::size_t j = 0; j < hidden[k].size(); ++j)
        field += plain.edges[0].weights[unit * hidden[k].size() + j] * hidden[k][j];
      const double precision = plain.layers[0].precision[unit];
      const at::Tensor here = (state.layers[1] - support::to_tensor({hidden[k]})).abs().sum(1).eq(0);
      const at::Tensor x = state.layers[0].select(1, static_cast<std::int64_t>(unit)).masked_select(here);
      const at::Tensor u = 0.5 * at::erfc(-(x - field / precision) * std::sqrt(precision) / std::numbers::sqrt2);
      for (const double count :
           support::numbers(at::bincount((u * bins).floor().clamp(0, bins - 1).to(at::kLong), {}, bins))) {
        counts.push_back(count);
        probabilities.push_back(marginal[k] / bins);
      }
    }
    support::expect_frequencies(counts, probabilities);
  }
}

class GaussianGibbs : public testing::TestWithParam<std::string>, GibbsTest {
 protected:
  const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:2", GetParam(), at::kDouble), 21, 0.9);
};

TEST_P(GaussianGibbs, LeavesTheExactDistributionAsItIs) {
  // An exact start: the hidden state by its marginal, then the visible units by their conditional normal distributions.
  const support::PlainMachine plain(machine);
  std::vector<Configuration> hidden;
  Row log_weights;
  for (const Row& h : plain.points(1).rows) {
    hidden.push_back({{0.0, 0.0}, h});
    log_weights.push_back(plain.log_sum(hidden.back(), {0}));
  }
  State state = support::draw_configurations(hidden, support::normalized(log_weights), rows, Key(12));
  const at::Tensor precision = machine.parameters()["visible.precision"];
  const at::Tensor field =
      machine.parameters()["visible.bias"] + state.layers[1].mm(machine.parameters()["visible_hidden.weights"].t());
  state.layers[0] = field / precision + normal(Key(13), {rows, 2}, at::kDouble) / precision.sqrt();
  expect_gaussian_rbm_distribution(machine, state);
  for (std::uint64_t i = 0; i < 3; ++i) {
    gibbs(machine, state, Key(14).fold_in(i), 1);
    expect_gaussian_rbm_distribution(machine, state);
  }
}

TEST_P(GaussianGibbs, ForgetsAStartThatKnowsNothing) {
  // Weaker weights than above, so that twenty sweeps are enough to forget.
  const BoltzmannMachine weak = support::randomized(make_rbm("gaussian:2", GetParam(), at::kDouble), 21, 0.4);
  State state = weak.independent_sample(Key(15), rows);
  gibbs(weak, state, Key(16), 20);
  expect_gaussian_rbm_distribution(weak, state);
}

INSTANTIATE_TEST_SUITE_P(Hidden, GaussianGibbs, testing::Values("bernoulli:3", "softmax:2x3"),
                         [](const auto& one) { return one.param.substr(0, one.param.find(':')); });

// A chain with a continuous top layer: moments at 5.5 standard errors, false-alarm rate below 1e-6.
TEST(GibbsOnAMixedChain, HasTheMomentsOfTheExactDistribution) {
  const BoltzmannMachine machine =
      support::randomized(make_chain({"softmax:1x3", "bernoulli:3", "gaussian:1"}, at::kDouble), 22);
  const BruteForce brute(machine);
  const GibbsTest one_thread;
  State state = machine.independent_sample(Key(17), rows);
  gibbs(machine, state, Key(18), 20);
  const at::Tensor x = at::cat(state.layers, 1), second = x.unsqueeze(2) * x.unsqueeze(1);
  const at::Tensor nodes = at::cat(support::to_state(brute.configurations).layers, 1);
  const at::Tensor p = support::to_tensor({brute.probabilities})[0];
  support::expect_mean(x, p.matmul(nodes), "means");
  support::expect_mean(second.reshape({rows, -1}),
                       p.matmul((nodes.unsqueeze(2) * nodes.unsqueeze(1)).reshape({nodes.size(0), -1})), "products");
}

TEST(Gibbs, IsBitIdenticalForAnyNumberOfThreads) {
  const BoltzmannMachine machine = support::randomized(
      make_chain({"bernoulli:5", "softmax:2x3", "gaussian:2", "bernoulli:4"}, at::kDouble), 23, 0.4);
  std::vector<State> results;
  for (const int threads : {1, 2}) {
    const support::ThreadCount limit(threads);
    State state = machine.independent_sample(Key(19), 3001);
    gibbs(machine, state, Key(20), 5);
    results.push_back(state);
  }
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    EXPECT_TRUE(at::equal(results[0].layers[layer], results[1].layers[layer])) << machine.layers()[layer].name;
}

TEST(Gibbs, DoesNotWriteIntoTheTensorsItIsGiven) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:5", "bernoulli:4", at::kDouble), 24);
  State state = machine.independent_sample(Key(21), 100);
  const State given = state, before = state.clone();
  gibbs(machine, state, Key(22), 3);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    EXPECT_TRUE(at::equal(given.layers[layer], before.layers[layer]));
    EXPECT_FALSE(at::equal(state.layers[layer], before.layers[layer]));
  }
}

TEST(Gibbs, WithEverythingClampedOrNoSweepDoesNothing) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:5", "bernoulli:4", at::kDouble), 25);
  State state = machine.independent_sample(Key(23), 10);
  const State before = state;
  gibbs(machine, state, Key(24), 0);
  gibbs(machine, state, Key(24), 2, {0, 1});
  for (std::size_t layer = 0; layer < 2; ++layer) EXPECT_TRUE(at::equal(state.layers[layer], before.layers[layer]));
}

TEST(Gibbs, UsesOtherRandomNumbersInEverySweepAndLayer) {
  // Without weights and biases all draws are fair coins: equal columns would mean shared random numbers.
  const BoltzmannMachine machine = make_rbm("bernoulli:64", "bernoulli:64", at::kDouble);
  State once = machine.independent_sample(Key(25), 4), twice = once;
  gibbs(machine, once, Key(26), 1);
  gibbs(machine, twice, Key(26), 2);
  EXPECT_FALSE(at::equal(once.layers[0], once.layers[1]));
  EXPECT_FALSE(at::equal(once.layers[0], twice.layers[0]));
}

}  // namespace
}  // namespace harmonium
