#include "harmonium/models/builders.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

TEST(LogLabelProbabilities, AreTheConditionalsOfTheJointByEnumeration) {
  for (const std::string visible : {"bernoulli:3", "softmax:2x2"}) {
    const BoltzmannMachine machine =
        support::randomized(make_classification_rbm(visible, 3, "bernoulli:3", at::kDouble), 12);
    const support::BruteForce brute(machine);
    const std::vector<support::Row> inputs = support::points_of(visible).rows;
    std::vector<support::Row> expected;
    for (const support::Row& v : inputs) {
      support::Row joint(3, 0), total(3, 0);
      for (std::size_t n = 0; n < brute.configurations.size(); ++n) {
        const support::Configuration& x = brute.configurations[n];
        if (x[0] != v) continue;
        for (std::size_t c = 0; c < 3; ++c) joint[c] += x[1][c] * brute.probabilities[n];
      }
      const double sum = joint[0] + joint[1] + joint[2];
      expected.push_back({std::log(joint[0] / sum), std::log(joint[1] / sum), std::log(joint[2] / sum)});
    }
    expect_close(log_label_probabilities(machine, support::to_tensor(inputs)), support::to_tensor(expected), 1e-12);
  }
}

TEST(LogLabelProbabilities, HoldForRealInputs) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("gaussian:2", 4, "bernoulli:3", at::kDouble), 13);
  const support::PlainMachine plain(machine);
  const std::vector<support::Row> inputs = {{0.4, -1.3}, {2.1, 0.2}};
  std::vector<support::Row> expected;
  for (const support::Row& v : inputs) {
    support::Row scores;
    for (const support::Row& label : support::points_of("softmax:1x4").rows)
      scores.push_back(plain.log_sum({v, label, {}}, {2}));
    // points_of lists the labels in order.
    const double total = support::log_sum_exp(scores);
    for (double& score : scores) score -= total;
    expected.push_back(scores);
  }
  expect_close(log_label_probabilities(machine, support::to_tensor(inputs)), support::to_tensor(expected), 1e-12);
}

TEST(LogLabelProbabilities, NeedALabelLayer) {
  support::expect_mentions(
      support::message_of([] {
        static_cast<void>(log_label_probabilities(make_rbm("bernoulli:2", "bernoulli:2"), at::zeros({1, 2})));
      }),
      {"label"});
}

// 60 000 weights: the standard error of their mean is scale/245, of their standard deviation scale/346; 5.5 of those
// each give a false-alarm rate of 1e-7 together.
TEST(Initialize, DrawsWeightsOfTheScaleAskedForAndZeroBiases) {
  BoltzmannMachine machine = make_rbm("bernoulli:300", "bernoulli:200", at::kDouble);
  initialize(machine, Key(1), 0.05);
  const at::Tensor weights = machine.parameters()["visible_hidden.weights"];
  const double n = 60'000;
  EXPECT_NEAR(weights.mean().item<double>(), 0, 5.5 * 0.05 / std::sqrt(n));
  EXPECT_NEAR(weights.square().mean().sqrt().item<double>(), 0.05, 5.5 * 0.05 / std::sqrt(2 * n));
  EXPECT_EQ(machine.parameters()["visible.bias"].count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(machine.parameters()["hidden.bias"].count_nonzero().item<std::int64_t>(), 0);
}

TEST(Initialize, GivesEveryEdgeItsOwnWeightsAndDependsOnTheKeyAlone) {
  BoltzmannMachine a = make_chain({"bernoulli:4", "bernoulli:4", "bernoulli:4"}),
                   b = make_chain({"bernoulli:4", "bernoulli:4", "bernoulli:4"});
  initialize(a, Key(2), 0.1);
  initialize(b, Key(2), 0.1);
  EXPECT_TRUE(support::identical(a.parameters(), b.parameters()));
  EXPECT_FALSE(at::equal(a.parameters()["visible_hidden1.weights"], a.parameters()["hidden1_hidden2.weights"]));
  initialize(b, Key(3), 0.1);
  EXPECT_FALSE(support::identical(a.parameters(), b.parameters()));
}

// Without weights the machine's means are those of its biases, so they must be the data's, but for the smoothing of
// 1e-3.
TEST(Initialize, MatchesTheMomentsOfTheDataWhereTheyAreGiven) {
  const at::Tensor data = (uniform(Key(4), {500, 6}, at::kDouble) < 0.3).to(at::kDouble);
  BoltzmannMachine machine = make_rbm("bernoulli:6", "bernoulli:3", at::kDouble);
  initialize(machine, Key(5), 0.0, {machine.unit(0).moments(data, {})});
  expect_close(at::sigmoid(machine.parameters()["visible.bias"]), data.mean(0) * 0.998 + 0.001, 1e-12);

  const at::Tensor real = 2 + 3 * normal(Key(6), {500, 2}, at::kDouble);
  BoltzmannMachine gaussian = make_rbm("gaussian:2", "bernoulli:3", at::kDouble);
  initialize(gaussian, Key(7), 0.0, {gaussian.unit(0).moments(real, {})});
  const at::Tensor variance = (real - real.mean(0)).square().mean(0);
  expect_close(gaussian.parameters()["visible.precision"], 1 / variance, 1e-10);
  expect_close(gaussian.parameters()["visible.bias"], real.mean(0) / variance, 1e-10);
}

}  // namespace
}  // namespace harmonium
