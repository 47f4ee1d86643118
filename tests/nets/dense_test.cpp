#include "harmonium/nets/dense.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

const std::vector<Activation>& hidden_activations() {
  static const std::vector<Activation> all = {Activation::linear, Activation::logistic, Activation::relu,
                                              Activation::tanh,   Activation::elu,      Activation::softplus};
  return all;
}

double value_of(Activation activation, double x) {
  switch (activation) {
    case Activation::logistic:
      return 1 / (1 + std::exp(-x));
    case Activation::relu:
      return std::max(0.0, x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::elu:
      return x > 0 ? x : std::exp(x) - 1;
    case Activation::softplus:
      return std::log1p(std::exp(x));
    default:
      return x;
  }
}

Moments random_parameters(const Net& net, std::uint64_t seed) {
  Moments parameters;
  net.declare(parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : parameters.entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble));
  return parameters;
}

TEST(Activations, AreReadByTheirNames) {
  for (const Activation activation : hidden_activations())
    EXPECT_EQ(parse_activation(to_string(activation)), activation);
  support::expect_mentions(support::message_of([] { (void)parse_activation("sine"); }), {"sine", "tanh", "elu"});
}

TEST(Dense, IsTheFormulaOfItsHeaderValueByValue) {
  for (const Activation activation : hidden_activations()) {
    SCOPED_TRACE(to_string(activation));
    const Dense net("encoder.", {3, 4, 2, 5}, activation);
    const Moments parameters = random_parameters(net, 1);
    const at::Tensor input = normal(Key(2), {6, 3}, at::kDouble), found = net.forward(parameters, input);
    for (std::int64_t row = 0; row < 6; ++row) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < 3; ++i) values.push_back(input[row][i].item<double>());
      for (int layer = 1; layer <= 3; ++layer) {
        const at::Tensor& weights = parameters[format("encoder.layer{}.weights", layer)];
        std::vector<double> next;
        for (std::int64_t unit = 0; unit < weights.size(1); ++unit) {
          double total = parameters[format("encoder.layer{}.bias", layer)][unit].item<double>();
          for (std::size_t i = 0; i < values.size(); ++i)
            total += values[i] * weights[static_cast<std::int64_t>(i)][unit].item<double>();
          next.push_back(layer < 3 ? value_of(activation, total) : total);  // nothing after the last layer
        }
        values = next;
      }
      for (std::int64_t unit = 0; unit < 5; ++unit)
        EXPECT_NEAR(found[row][unit].item<double>(), values[static_cast<std::size_t>(unit)], 1e-12);
    }
  }
}

TEST(Dense, TakesAnyNumberOfLeadingDimensions) {
  const Dense net("", {3, 4, 2}, Activation::tanh);
  const Moments parameters = random_parameters(net, 3);
  const at::Tensor input = normal(Key(4), {5, 7, 3}, at::kDouble), found = net.forward(parameters, input);
  EXPECT_EQ(found.sizes(), at::IntArrayRef({5, 7, 2}));
  for (std::int64_t draw = 0; draw < 7; ++draw)
    support::expect_close(found.select(1, draw), net.forward(parameters, input.select(1, draw)), 1e-14);
  EXPECT_EQ(net.forward(parameters, input[0][0]).sizes(), at::IntArrayRef({2}));
}

TEST(Dense, StartsUniformWithinItsBoundsAndLeavesOthersAlone) {
  const Dense net("decoder.", {30, 50, 20}, Activation::relu);
  Moments parameters = {{"other", at::ones({3})}};
  net.declare(parameters, at::kDouble);
  parameters["decoder.layer1.bias"].fill_(9);
  net.initialize(parameters, Key(5));
  const auto bounded = [&](const std::string& name, double sum) {
    const at::Tensor weights = parameters[name];
    const double bound = std::sqrt(6 / sum);
    EXPECT_LE(weights.abs().max().item<double>(), bound);
    // 1000 numbers or more all stay below 0.99 of the bound with probability 0.99^1000 = 4e-5.
    EXPECT_GT(weights.abs().max().item<double>(), 0.99 * bound);
    // The mean has deviation bound/√(3n), the mean square 0.298 bound²/√n; 5.5 of each: one false alarm in 10⁷.
    const auto n = static_cast<double>(weights.numel());
    EXPECT_NEAR(weights.mean().item<double>(), 0, 5.5 * bound / std::sqrt(3 * n));
    EXPECT_NEAR(weights.square().mean().item<double>(), bound * bound / 3, 5.5 * 0.298 * bound * bound / std::sqrt(n));
  };
  bounded("decoder.layer1.weights", 80);
  bounded("decoder.layer2.weights", 70);
  EXPECT_TRUE(at::equal(parameters["decoder.layer1.bias"], at::zeros({50}, at::kDouble)));
  EXPECT_TRUE(at::equal(parameters["other"], at::ones({3})));
  EXPECT_EQ(net.output_bias(), "decoder.layer2.bias");

  Moments again;
  net.declare(again, at::kDouble);
  net.initialize(again, Key(5));
  EXPECT_TRUE(at::equal(again["decoder.layer2.weights"], parameters["decoder.layer2.weights"])) << "same key";
}

TEST(Dense, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { Dense("encoder.", {3}, Activation::tanh); }), {"encoder.", "outputs"});
  expect_mentions(message_of([] { Dense("encoder.", {3, 0, 2}, Activation::tanh); }), {"layer 1", "0 units"});
  const Dense net("encoder.", {3, 2}, Activation::tanh);
  const Moments parameters = random_parameters(net, 1);
  expect_mentions(message_of([&] {
                    (void)net.forward(parameters, at::zeros({2, 5}, at::kDouble));
                  }),
                  {"encoder.", "3", "5"});
  expect_mentions(message_of([&] { (void)net.forward({}, at::zeros({2, 3}, at::kDouble)); }), {"encoder.layer1"});
}

}  // namespace
}  // namespace harmonium
