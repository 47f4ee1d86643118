#include "harmonium/training/sparsity.h"

#include <gtest/gtest.h>

#include "harmonium/data/bars_and_stripes.h"
#include "harmonium/inference/data_moments.h"
#include "harmonium/training/make_training.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

TEST(Sparsity, PullsTowardsTheTargetByTheRunningActivity) {
  const BoltzmannMachine machine =
      randomized(make_classification_rbm("bernoulli:3", 2, "bernoulli:4", at::kDouble), 21);
  Sparsity sparsity(machine, {.target = 0.2, .cost = 3, .decay = 0.5});
  const Moments first = randomized(machine.to(at::kDouble), 22).parameters(),
                second = randomized(machine.to(at::kDouble), 23).parameters();
  sparsity.observe(first);
  sparsity.observe(second);
  Moments gradient = machine.parameters().zeros_like();
  sparsity.pull_(gradient);
  const at::Tensor pull = 3 * (0.2 - 0.5 * (first["hidden.bias"] + second["hidden.bias"]));
  support::expect_close(gradient["hidden.bias"], pull, 1e-12);
  support::expect_close(gradient["visible_hidden.weights"], at::outer(second["visible.bias"], pull), 1e-12);
  support::expect_close(gradient["label_hidden.weights"], at::outer(second["label.bias"], pull), 1e-12);
  EXPECT_EQ(gradient["visible.bias"].count_nonzero().item<std::int64_t>(), 0);
}

TEST(Sparsity, WithoutCostDoesNothing) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:3", "gaussian:2", at::kDouble), 24);
  Sparsity none(machine, {});
  none.observe(machine.parameters());
  Moments gradient = machine.parameters().zeros_like();
  none.pull_(gradient);
  EXPECT_EQ(norm(gradient), 0);
  EXPECT_TRUE(none.state().empty());
}

TEST(Sparsity, NeedsBinaryHiddenUnitsAndATargetBetweenZeroAndOne) {
  const auto complaint = [](const std::string& hidden, const SparsityOptions& options) {
    return support::message_of([&] { const Sparsity one(make_rbm("bernoulli:3", hidden), options); });
  };
  support::expect_mentions(complaint("gaussian:2", {.cost = 1}), {"binary"});
  support::expect_mentions(complaint("bernoulli:2", {.target = 1.5, .cost = 1}), {"1.5"});
  support::expect_mentions(complaint("bernoulli:2", {.cost = 1, .decay = 1}), {"decay"});
  EXPECT_EQ(complaint("bernoulli:2", {.cost = 1}), "");
}

Training sparse_training(double cost) {
  const Dataset data = bars_and_stripes();
  const std::int64_t width = data.columns();
  BoltzmannMachine machine = make_rbm(format("bernoulli:{}", width), "bernoulli:8");
  initialize(machine, Key(25), 0.01);
  const Topology topology = machine.topology();
  const Moments shape = machine.parameters();
  return make_training(std::move(machine), BatchStream(data, {.batch = 20}, Key(26)),
                       make_negative_phase("pcd", {.particles = 20}), make_metric("sgd", topology, shape),
                       {.rate_bias = 0.1, .rate_weights = 0.1, .schedule = Schedule::constant},
                       {.updates = 600, .averaging = 1, .seed = 27}, {.target = 0.1, .cost = cost});
}

double activity(const Training& training) {
  const BoltzmannMachine& machine = machine_of(training);
  const State data = machine.observe({bars_and_stripes().to_float()});
  return data_moments(machine, data)["hidden.bias"].mean().item<double>();
}

TEST(Sparsity, MakesHiddenUnitsSparseInTraining) {
  Training plain = sparse_training(0), sparse = sparse_training(1);
  while (!plain.finished()) plain.step();
  while (!sparse.finished()) sparse.step();
  EXPECT_GT(activity(plain), 0.3);
  EXPECT_NEAR(activity(sparse), 0.1, 0.06);
}

TEST(Sparsity, SurvivesARestoredState) {
  Training whole = sparse_training(1);
  NamedTensors saved;
  for (int i = 0; i < 40; ++i) {
    if (i == 17)
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
    whole.step();
  }
  Training resumed = sparse_training(1);
  resumed.restore(17, saved);
  while (resumed.update() < 40) resumed.step();
  EXPECT_TRUE(support::identical(whole.parameters(), resumed.parameters()));
}

}  // namespace
}  // namespace harmonium
