#include "harmonium/training/fine_tuning.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

at::Tensor one_hot_targets(std::int64_t rows, std::int64_t classes) {
  return at::one_hot(at::arange(rows, at::kLong).remainder(classes), classes).to(at::kDouble);
}

struct GradientCase {
  std::string name;
  FeedForward net;
  Loss loss;
  Dropout dropout = {};
  friend void PrintTo(const GradientCase& one, std::ostream* out) { *out << one.name; }
};

FeedForward autoencoder_on_shares() {
  FeedForward net =
      make_autoencoder(4, {3, 2}, Activation::logistic, Activation::softmax, Activation::linear, at::kDouble);
  net.set_input_form(InputForm::shares);
  return net;
}

class EveryLoss : public testing::TestWithParam<GradientCase> {};

// Central differences of step 1e-5 err by about 1e-10 of the third derivative and 1e-11 of rounding.
TEST_P(EveryLoss, HasTheGradientOfFiniteDifferences) {
  const GradientCase& one = GetParam();
  FeedForward net = one.net;
  initialize(net, Key(3));
  for (std::uint64_t i = 0; i < net.layers().size(); ++i)
    at::Tensor(net.bias(i)).copy_(normal(Key(9).fold_in(i), net.bias(i).sizes(), at::kDouble));
  const at::Tensor inputs = uniform(Key(4), {6, net.inputs()}, at::kDouble);
  const at::Tensor targets = one.loss == Loss::cross_entropy ? one_hot_targets(6, net.outputs())
                                                             : uniform(Key(5), {6, net.outputs()}, at::kDouble);
  const Moments gradient = loss_gradient(net, inputs, targets, one.loss, one.dropout, Key(6)).gradient;
  constexpr double step = 1e-5;
  for (const auto& [name, value] : net.parameters().entries()) {
    at::Tensor flat = value.view(-1);
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      const double before = flat[i].item<double>();
      const auto loss_at = [&](double x) {
        flat[i].fill_(x);
        return loss_gradient(net, inputs, targets, one.loss, one.dropout, Key(6)).loss.item<double>();
      };
      const double difference = (loss_at(before + step) - loss_at(before - step)) / (2 * step);
      flat[i].fill_(before);
      EXPECT_NEAR(gradient[name].view(-1)[i].item<double>(), difference, 1e-8) << name << " " << i;
    }
  }
  if (one.dropout.hidden == 0) {
    EXPECT_NEAR(row_losses(net, inputs, targets, one.loss).mean().item<double>(),
                loss_gradient(net, inputs, targets, one.loss).loss.item<double>(), 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryLoss,
    testing::Values(GradientCase{"LogisticRegression", make_classifier(3, {}, 4, Activation::logistic, at::kDouble),
                                 Loss::cross_entropy},
                    GradientCase{"Classifier", make_classifier(3, {4, 3}, 3, Activation::logistic, at::kDouble),
                                 Loss::cross_entropy},
                    GradientCase{"Rectified", make_classifier(3, {5}, 2, Activation::relu, at::kDouble),
                                 Loss::cross_entropy},
                    GradientCase{"Dropped",
                                 make_classifier(4, {6}, 2, Activation::logistic, at::kDouble),
                                 Loss::cross_entropy,
                                 {.inputs = 0.3, .hidden = 0.5}},
                    GradientCase{"Bernoulli",
                                 make_autoencoder(4, {3, 2}, Activation::logistic, Activation::logistic,
                                                  Activation::linear, at::kDouble),
                                 Loss::bernoulli},
                    GradientCase{"Squared",
                                 make_autoencoder(4, {3, 2}, Activation::logistic, Activation::logistic,
                                                  Activation::linear, at::kDouble),
                                 Loss::squared},
                    GradientCase{"Multinomial", autoencoder_on_shares(), Loss::multinomial},
                    GradientCase{"LinearSquared",
                                 make_autoencoder(4, {2}, Activation::logistic, Activation::linear,
                                                  Activation::logistic, at::kDouble),
                                 Loss::squared}),
    [](const auto& one) { return one.param.name; });

TEST(Losses, AreWhatTheirNamesSay) {
  FeedForward net({{1, 2, Activation::logistic}}, std::nullopt, at::kDouble);
  at::Tensor(net.bias(0)).copy_(at::tensor({0.0, std::log(3.0)}, at::kDouble));  // y = ½, ¾
  const at::Tensor input = at::zeros({1, 1}, at::kDouble), target = at::tensor({1.0, 0.25}, at::kDouble).unsqueeze(0);
  EXPECT_NEAR(row_losses(net, input, target, Loss::squared).item<double>(), 0.25 + 0.25, 1e-12);
  EXPECT_NEAR(row_losses(net, input, target, Loss::bernoulli).item<double>(),
              -std::log(0.5) - 0.25 * std::log(0.75) - 0.75 * std::log(0.25), 1e-12);
  // −log p of a document of three words, one of the first kind (y = ¼) and two of the second (y = ¾).
  FeedForward words({{2, 2, Activation::softmax}}, std::nullopt, at::kDouble);
  at::Tensor(words.bias(0)).copy_(at::tensor({0.0, std::log(3.0)}, at::kDouble));
  const at::Tensor counts = at::tensor({1.0, 2.0}, at::kDouble).unsqueeze(0);
  EXPECT_NEAR(row_losses(words, counts, counts, Loss::multinomial).item<double>(), -std::log(0.25) - 2 * std::log(0.75),
              1e-12);
  FeedForward classes({{1, 2, Activation::softmax}}, std::nullopt, at::kDouble);
  at::Tensor(classes.bias(0)).copy_(at::tensor({0.0, std::log(3.0)}, at::kDouble));  // p = ¼, ¾
  EXPECT_NEAR(
      row_losses(classes, input, at::tensor({0.0, 1.0}, at::kDouble).unsqueeze(0), Loss::cross_entropy).item<double>(),
      -std::log(0.75), 1e-12);
  // Far from the middle nothing overflows or is lost.
  at::Tensor(net.bias(0)).copy_(at::tensor({-800.0, 800.0}, at::kDouble));
  EXPECT_NEAR(row_losses(net, input, at::tensor({0.0, 1.0}, at::kDouble).unsqueeze(0), Loss::bernoulli).item<double>(),
              0, 1e-12);
  support::expect_mentions(support::message_of([&] { (void)row_losses(net, input, target, Loss::cross_entropy); }),
                           {"cross_entropy", "softmax", "logistic"});
}

// A unit is dropped with the share asked for and counts for the lost ones otherwise: on average nothing changes. Of
// 10 000 values of standard deviation 1 the mean is off by more than 5/√10 000 in 1 of 2 million seeds.
TEST(Dropout, KeepsTheMeanOfALinearNet) {
  FeedForward net({{400, 100, Activation::linear}, {100, 400, Activation::linear}}, std::nullopt, at::kDouble);
  at::Tensor(net.weights(0)).fill_(1.0 / 400);
  at::Tensor(net.weights(1)).copy_(at::eye(100, at::kDouble).repeat({1, 4}));
  const at::Tensor inputs = at::ones({100, 400}, at::kDouble), targets = at::zeros({100, 400}, at::kDouble);
  // d loss / d bias of the last layer = 2 · mean output: a look at the disturbed forward pass.
  const at::Tensor seen = loss_gradient(net, inputs, targets, Loss::squared, {.inputs = 0.0, .hidden = 0.5}, Key(2))
                              .gradient["layer2.bias"] /
                          2;
  EXPECT_NEAR(seen.mean().item<double>(), 1, 5 / std::sqrt(100.0 * 100));
  EXPECT_GT(seen.std().item<double>(), 0.05) << "nothing was dropped";
}

Dataset labelled_bits(std::int64_t rows, std::int64_t columns) {
  Dataset data = random_bits(rows, columns);
  data.labels =
      (data.values.to(at::kLong).sum(1) + at::arange(rows, at::kLong).remainder(3).eq(0).to(at::kLong)).remainder(2);
  return data;
}

FineTuning small_run(bool adam, double momentum, std::int64_t updates = 40) {
  FeedForward net = make_classifier(6, {5}, 2, Activation::logistic);
  initialize(net, Key(1));
  return {net,
          BatchStream(labelled_bits(50, 6),
                      {.batch = 16, .binarization = Binarization::none, .shrink = 0, .classes = 2}, Key(2)),
          {.loss = Loss::cross_entropy,
           .adam = adam,
           .step = {.rate_bias = 0.05, .rate_weights = 0.05, .momentum = momentum, .weight_decay = 1e-3},
           .dropout = {.inputs = 0.1, .hidden = 0.2},
           .updates = updates,
           .averaging = 10,
           .seed = 3}};
}

class EveryDescent : public testing::TestWithParam<std::tuple<bool, double>> {};

TEST_P(EveryDescent, ContinuesBitIdenticallyFromARestoredState) {
  const auto& [adam, momentum] = GetParam();
  FineTuning whole = small_run(adam, momentum);
  NamedTensors saved;
  for (int i = 0; i < 40; ++i) {
    if (i == 17)
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
    whole.step();
  }
  FineTuning resumed = small_run(adam, momentum);
  resumed.restore(17, saved);
  while (!resumed.finished()) resumed.step();
  EXPECT_TRUE(support::identical(whole.net().parameters(), resumed.net().parameters()));
  EXPECT_TRUE(support::identical(whole.averaged().parameters(), resumed.averaged().parameters()));
  EXPECT_EQ(whole.take_loss(), resumed.take_loss());
}

INSTANTIATE_TEST_SUITE_P(All, EveryDescent, testing::Combine(testing::Bool(), testing::Values(0.0, 0.9)));

// With an L2 penalty the problem is strictly convex: its one optimum is where the penalized gradient vanishes, found
// here by Newton's method, which shares no code with the descent.
TEST(FineTuning, LogisticRegressionReachesTheOneOptimum) {
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
    FineTuning run(
        net.to(at::kFloat),
        BatchStream(doubles, {.batch = 60, .binarization = Binarization::none, .shrink = 0, .classes = 2}, Key(2)),
        {.loss = Loss::cross_entropy,
         .adam = adam,
         .step = {.rate_bias = adam ? 0.01 : 1.0,
                  .rate_weights = adam ? 0.01 : 1.0,
                  .schedule = Schedule::linear,
                  .momentum = adam ? 0 : 0.5,
                  .weight_decay = decay},
         .updates = 3000,
         .averaging = 1});
    while (!run.finished()) run.step();
    const FeedForward& found = run.net();
    const at::Tensor w = found.weights(0).to(at::kDouble), b = found.bias(0).to(at::kDouble);
    support::expect_close(w.select(1, 1) - w.select(1, 0), u.narrow(0, 0, 3), 1e-4, adam ? "adam" : "sgd");
    EXPECT_NEAR((b[1] - b[0]).item<double>(), u[3].item<double>(), 2e-4);
  }
}

TEST(FineTuning, StopsWithUpdateTensorAndAdviceWhenParametersExplode) {
  FeedForward net = make_autoencoder(6, {4}, Activation::logistic, Activation::linear);
  initialize(net, Key(1));
  FineTuning run(net, BatchStream(random_bits(50, 6), {.batch = 16}, Key(2)),
                 {.loss = Loss::squared, .step = {.rate_bias = 1e3, .rate_weights = 1e3}, .updates = 100});
  try {
    while (!run.finished()) run.step();
    FAIL() << "training went on";
  } catch (const RunFailure& failure) {
    support::expect_mentions(failure.what(), {"update 10", "layer1", "--rate-weights"});
  }
}

TEST(FineTuning, SaysWhatDoesNotFit) {
  const auto made = [](const FeedForward& net, Loss loss, const Dropout& dropout = {}) {
    return support::message_of([&] {
      const FineTuning run(net, BatchStream(random_bits(20, 6), {.batch = 4}, Key(2)),
                           {.loss = loss, .dropout = dropout});
    });
  };
  support::expect_mentions(made(make_classifier(5, {}, 2, Activation::relu), Loss::cross_entropy), {"6 columns", "5"});
  const FeedForward net = make_autoencoder(6, {2}, Activation::relu, Activation::linear);
  support::expect_mentions(made(net, Loss::bernoulli), {"bernoulli", "linear", "squared"});
  support::expect_mentions(made(net, Loss::squared, {.inputs = 1.0, .hidden = 0}), {"drop", "1"});
}

}  // namespace
}  // namespace harmonium
