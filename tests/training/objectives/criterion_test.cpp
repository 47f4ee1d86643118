#include "harmonium/training/objectives/criterion.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/training/make_training.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

Dataset labelled_bits(std::int64_t rows, std::int64_t columns) {
  Dataset data = random_bits(rows, columns);
  data.labels =
      (data.values.to(at::kLong).sum(1) + at::arange(rows, at::kLong).remainder(3).eq(0).to(at::kLong)).remainder(2);
  return data;
}

Training small_run(const std::string& optimizer, double momentum) {
  FeedForward net = make_classifier(6, {5}, 2, Activation::logistic);
  initialize(net, Key(1));
  return make_training(
      net,
      BatchStream(labelled_bits(50, 6), {.batch = 16, .binarization = Binarization::none, .shrink = 0, .classes = 2},
                  Key(2)),
      {.loss = Loss::cross_entropy, .dropout = {.inputs = 0.1, .hidden = 0.2}}, optimizer,
      {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = momentum, .weight_decay = 1e-3},
      {.updates = 40, .averaging = 10, .seed = 3});
}

class EveryDescent : public testing::TestWithParam<std::tuple<std::string, double>> {};

TEST_P(EveryDescent, ContinuesBitIdenticallyFromARestoredState) {
  const auto& [optimizer, momentum] = GetParam();
  Training whole = small_run(optimizer, momentum);
  NamedTensors saved;
  for (int i = 0; i < 40; ++i) {
    if (i == 17)
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
    whole.step();
  }
  Training resumed = small_run(optimizer, momentum);
  resumed.restore(17, saved);
  while (!resumed.finished()) resumed.step();
  EXPECT_TRUE(support::identical(whole.parameters(), resumed.parameters()));
  EXPECT_TRUE(support::identical(whole.averaged(), resumed.averaged()));
  EXPECT_EQ(whole.take_measurements(), resumed.take_measurements());
}

INSTANTIATE_TEST_SUITE_P(All, EveryDescent,
                         testing::Combine(testing::Values("sgd", "adam"), testing::Values(0.0, 0.9)));

// With an L2 penalty the problem is strictly convex: its one optimum is where the penalized gradient vanishes, found
// here by Newton's method, which shares no code with the descent.
TEST(Criterion, LogisticRegressionReachesTheOneOptimum) {
  const Dataset data = labelled_bits(60, 3);
  constexpr double decay = 0.01;
  const at::Tensor x = at::cat({data.to_float(), at::ones({60, 1})}, 1).to(at::kDouble);
  const at::Tensor y = data.labels.to(at::kDouble);
  // Two classes with symmetric weights ±w: decay · (|w₀|² + |w₁|²)/2 = decay · |u|²/4 for u = w₁ − w₀; biases are free.
  at::Tensor u = at::zeros({4}, at::kDouble);
  const at::Tensor penalty = at::diag(at::tensor({decay / 2, decay / 2, decay / 2, 0.0}, at::kDouble));
  for (int i = 0; i < 50; ++i) {
    const at::Tensor p = x.matmul(u).sigmoid();
    const at::Tensor gradient = x.t().matmul(p - y) / 60 + penalty.matmul(u);
    const at::Tensor curvature = x.t().matmul(x * (p * (1 - p)).unsqueeze(1)) / 60 + penalty;
    u = u - at::linalg_solve(curvature, gradient);
  }
  for (const bool adam : {false, true}) {
    FeedForward net = make_classifier(3, {}, 2, Activation::logistic, at::kDouble);
    Dataset doubles = data;
    const FeedForward start = net.to(at::kFloat);
    Training run = make_training(
        start,
        BatchStream(doubles, {.batch = 60, .binarization = Binarization::none, .shrink = 0, .classes = 2}, Key(2)),
        {.loss = Loss::cross_entropy}, adam ? "adam" : "sgd",
        {.rate_bias = adam ? 0.01 : 1.0,
         .rate_weights = adam ? 0.01 : 1.0,
         .schedule = Schedule::linear,
         .momentum = adam ? 0 : 0.5,
         .weight_decay = decay},
        {.updates = 3000, .averaging = 1});
    while (!run.finished()) run.step();
    const FeedForward found = start.with_parameters(run.parameters());
    const at::Tensor w = found.weights(0).to(at::kDouble), b = found.bias(0).to(at::kDouble);
    support::expect_close(w.select(1, 1) - w.select(1, 0), u.narrow(0, 0, 3), 1e-4, adam ? "adam" : "sgd");
    EXPECT_NEAR((b[1] - b[0]).item<double>(), u[3].item<double>(), 2e-4);
  }
}

TEST(Criterion, StopsWithUpdateTensorAndAdviceWhenParametersExplode) {
  FeedForward net = make_autoencoder(6, {4}, Activation::logistic, Activation::linear);
  initialize(net, Key(1));
  Training run = make_training(net, BatchStream(random_bits(50, 6), {.batch = 16}, Key(2)), {.loss = Loss::squared},
                               "sgd", {.rate_bias = 1e3, .rate_weights = 1e3}, {.updates = 100});
  try {
    while (!run.finished()) run.step();
    FAIL() << "training went on";
  } catch (const RunFailure& failure) {
    support::expect_mentions(failure.what(), {"update 10", "layer1", "rate_weights"});
  }
}

TEST(Criterion, SaysWhatDoesNotFit) {
  const auto made = [](const FeedForward& net, Loss loss, const Dropout& dropout = {}) {
    return support::message_of([&] {
      (void)make_training(net, BatchStream(random_bits(20, 6), {.batch = 4}, Key(2)),
                          {.loss = loss, .dropout = dropout}, "sgd", {}, {});
    });
  };
  support::expect_mentions(made(make_classifier(5, {}, 2, Activation::relu), Loss::cross_entropy), {"6 columns", "5"});
  const FeedForward net = make_autoencoder(6, {2}, Activation::relu, Activation::linear);
  support::expect_mentions(made(net, Loss::bernoulli), {"bernoulli", "linear", "squared"});
  support::expect_mentions(made(net, Loss::squared, {.inputs = 1.0, .hidden = 0}), {"drop", "1"});
}

// Any function of parameters and batch will do: here the mean of |x − m|², whose optimum is the mean of the rows.
TEST(Criterion, ClimbsToTheOptimumOfALossGivenAsAFunction) {
  const Dataset data = random_bits(50, 6);
  auto objective = std::make_unique<Criterion>(
      Moments{{"mean", at::zeros({6})}}, std::vector<ParameterGroup>{{.names = {"mean"}, .kind = ParameterKind::bias}},
      [](const Moments& leaves, const std::vector<at::Tensor>& batch, const Key&) {
        return (batch[0] - leaves["mean"]).square().sum(1).mean();
      });
  auto optimizer = make_optimizer("sgd", objective->groups(), objective->parameters());
  Training run(std::move(objective), std::move(optimizer), BatchStream(data, {.batch = 50}, Key(2)),
               {.rate_bias = 0.25, .schedule = Schedule::constant}, {.updates = 60, .averaging = 1});
  while (!run.finished()) run.step();
  support::expect_close(run.parameters()["mean"].to(at::kDouble), data.column_means().to(at::kDouble), 1e-6);
  EXPECT_EQ(run.take_measurements().count("loss"), 1U);
  EXPECT_EQ(run.take_measurements().count("loss"), 0U) << "no batch since";
}

TEST(Criterion, RefusesAnOptimizerThatLooksAtAMachine) {
  const BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2");
  support::expect_mentions(support::message_of([&] {
                             const Training run(
                                 std::make_unique<Criterion>(Moments{{"x", at::zeros({1})}},
                                                             std::vector<ParameterGroup>{}, Criterion::MeanLoss{}),
                                 make_metric("fang", machine.topology(), machine.parameters()),
                                 BatchStream(random_bits(20, 6), {.batch = 4}, Key(2)), {}, {});
                           }),
                           {"optimizer fang", "adam or sgd"});
}

}  // namespace
}  // namespace harmonium
