#include "harmonium/models/feed_forward.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

FeedForward random_net(std::vector<DenseLayer> layers, std::optional<std::size_t> code = std::nullopt) {
  FeedForward net(std::move(layers), code, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}

// Value by value, as the header's formula says.
double unit_value(const FeedForward& net, std::size_t layer, const std::vector<double>& below, std::int64_t unit) {
  double total = net.bias(layer)[unit].item<double>();
  for (std::size_t i = 0; i < below.size(); ++i)
    total += below[i] * net.weights(layer)[static_cast<std::int64_t>(i)][unit].item<double>();
  return total;
}

TEST(FeedForward, IsTheFormulaOfItsHeaderValueByValue) {
  const FeedForward net = random_net({{3, 4, Activation::relu},
                                      {4, 2, Activation::linear},
                                      {2, 5, Activation::logistic},
                                      {5, 3, Activation::softmax}});
  const at::Tensor input = normal(Key(4), {6, 3}, at::kDouble);
  const std::vector<at::Tensor> found = net.activations(input);
  for (std::int64_t row = 0; row < input.size(0); ++row) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < 3; ++i) values.push_back(input[row][i].item<double>());
    for (std::size_t layer = 0; layer < 4; ++layer) {
      std::vector<double> next;
      double sum = 0;
      for (std::int64_t unit = 0; unit < net.layers()[layer].outputs; ++unit) {
        const double total = unit_value(net, layer, values, unit);
        next.push_back(layer == 0   ? std::max(0.0, total)
                       : layer == 1 ? total
                       : layer == 2 ? 1 / (1 + std::exp(-total))
                                    : std::exp(total));
        sum += next.back();
      }
      for (std::size_t unit = 0; unit < next.size(); ++unit) {
        if (layer == 3) next[unit] /= sum;
        EXPECT_NEAR(found[layer][row][static_cast<std::int64_t>(unit)].item<double>(), next[unit], 1e-12);
      }
      values = next;
    }
  }
  EXPECT_TRUE(at::equal(net.forward(input), found.back()));
  EXPECT_TRUE(at::allclose(net.logits(input).softmax(1), found.back()));
  EXPECT_TRUE(at::equal(net.encode(input), found[2])) << "without a code, the last hidden layer";
}

TEST(FeedForward, GivesItsCodeAndGoesOnFromThere) {
  FeedForward net =
      make_autoencoder(6, {5, 2}, Activation::logistic, Activation::logistic, Activation::linear, at::kDouble);
  initialize(net, Key(1));
  ASSERT_EQ(net.layers().size(), 4U);
  EXPECT_EQ(net.layers()[1].activation, Activation::linear) << "the code";
  EXPECT_EQ(net.layers()[3].outputs, 6);
  const at::Tensor input = uniform(Key(2), {7, 6}, at::kDouble);
  EXPECT_TRUE(at::equal(net.encode(input), net.activations(input)[1]));
  EXPECT_EQ(net.encode(input).size(1), 2);
}

TEST(FeedForward, DisturbsTheInputsOfEveryLayer) {
  const FeedForward net = random_net({{3, 4, Activation::logistic}, {4, 2, Activation::linear}});
  const at::Tensor input = normal(Key(5), {2, 3}, at::kDouble);
  const at::Tensor found = net.logits(
      input, [](std::size_t layer, const at::Tensor& values) { return layer == 0 ? values * 2 : values + 1; });
  const at::Tensor hidden = (at::matmul(input * 2, net.weights(0)) + net.bias(0)).sigmoid() + 1;
  EXPECT_TRUE(at::allclose(found, at::matmul(hidden, net.weights(1)) + net.bias(1)));
}

TEST(FeedForward, StartsWithValuesOfOneSize) {
  // Values of 20 rows and 300 relu units have a mean square near that of their inputs; the variance of this ratio is
  // about 5/300, so beyond 0.5 … 1.5 is four standard deviations: false alarms in 1 of 10 000 seeds, and this is one.
  FeedForward net = make_classifier(300, {300, 300}, 10, Activation::relu, at::kDouble);
  initialize(net, Key(7));
  const std::vector<at::Tensor> values = net.activations(normal(Key(8), {20, 300}, at::kDouble).relu());
  const auto size = [](const at::Tensor& x) { return x.square().mean().item<double>(); };
  EXPECT_NEAR(size(values[1]) / size(values[0]), 1, 0.5);
  EXPECT_TRUE(at::equal(net.bias(0), at::zeros({300}, at::kDouble)));
}

TEST(FeedForward, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { FeedForward({}); }), {"at least one layer"});
  expect_mentions(message_of([] { FeedForward({{3, 4}, {5, 2}}); }), {"layer 2", "5", "layer 1", "4"});
  expect_mentions(message_of([] { FeedForward({{3, 4}}, 0); }), {"code"});
  expect_mentions(message_of([] { (void)FeedForward({{3, 4}}).forward(at::zeros({2, 5})); }), {"3", "5"});
  expect_mentions(message_of([] { (void)FeedForward({{3, 4}}).encode(at::zeros({2, 3})); }), {"one layer"});
  expect_mentions(message_of([] { (void)parse_activation("sine"); }), {"sine", "logistic"});
}

}  // namespace
}  // namespace harmonium
