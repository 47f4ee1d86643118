#include "harmonium/models/builders.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

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
