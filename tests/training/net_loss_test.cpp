#include "harmonium/training/net_loss.h"

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

// Against a second derivation: the gradient with respect to every value by differences, its sign by hand, and the plain
// loss there. Without dropout both halves can be computed apart.
TEST(AdversarialLoss, IsTheMeanOfThePlainLossAndThatOfRowsMovedUphill) {
  FeedForward net = make_classifier(5, {4}, 3, Activation::logistic, at::kDouble);
  initialize(net, Key(3));
  const at::Tensor rows = uniform(Key(4), {6, 5}, at::kDouble), targets = one_hot_targets(6, 3);
  const auto loss_of = [&](const at::Tensor& at_rows) {
    return row_losses(net, at_rows, targets, Loss::cross_entropy).mean().item<double>();
  };
  constexpr double difference = 1e-6, step = 0.1;
  at::Tensor harder = rows.clone();
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    at::Tensor up = rows.clone(), down = rows.clone();
    up.view(-1)[i] += difference;
    down.view(-1)[i] -= difference;
    harder.view(-1)[i] += loss_of(up) > loss_of(down) ? step : -step;
  }
  const at::Tensor found = adversarial_loss(net, rows, targets, Loss::cross_entropy, {}, step, Key(6));
  EXPECT_NEAR(found.item<double>(), (loss_of(rows) + loss_of(harder)) / 2, 1e-12);
  EXPECT_GT(loss_of(harder), loss_of(rows));
}

// Its gradient is that of the two halves, the moved rows held: nothing of the way uphill is left in it.
TEST(AdversarialLoss, HasTheGradientOfItsTwoHalves) {
  FeedForward net = make_classifier(5, {4}, 3, Activation::logistic, at::kDouble);
  initialize(net, Key(3));
  const at::Tensor rows = uniform(Key(4), {6, 5}, at::kDouble), targets = one_hot_targets(6, 3);
  constexpr double step = 0.1;
  at::Tensor harder;
  {
    const at::Tensor leaf = rows.clone().requires_grad_();
    harder = rows + step * gradient_kept_apart(mean_loss(net, leaf, targets, Loss::cross_entropy), leaf).sign();
  }
  const Moments found =
      loss_gradient(net.parameters(), [&](const Moments& leaves) {
        return adversarial_loss(net.with_parameters(leaves), rows, targets, Loss::cross_entropy, {}, step, Key(6));
      }).gradient;
  const Moments plain = loss_gradient(net, rows, targets, Loss::cross_entropy).gradient;
  const Moments moved = loss_gradient(net, harder, targets, Loss::cross_entropy).gradient;
  for (const auto& [name, value] : found.entries())
    EXPECT_LT((value - (plain[name] + moved[name]) / 2).abs().max().item<double>(), 1e-12) << name;
}

}  // namespace
}  // namespace harmonium
