// The deep energy model: against differences, quadrature, a formula without automatic differentiation, and a Gaussian
// RBM where it has no layers below its hidden units.
#include "harmonium/models/free_energy/deep_energy_model.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/free_energy_annealing.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/models/builders.h"
#include "harmonium/training/objectives/energy_contrast.h"
#include "harmonium/training/training.h"
#include "tests/support/energy_checks.h"

namespace harmonium {
namespace {

using support::largest_of;
using support::rows_of_values;
using support::Square;

Moments random_deep_energy(const DeepEnergyModel& model, std::uint64_t seed) {
  Moments theta = model.initial_parameters(Key(seed), at::kDouble);
  for (std::uint64_t i = 1; const auto& [name, value] : theta.entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble) *
                            (name.ends_with("precision") ? 0.3 : 1));
  return theta;
}

class EveryDeepEnergyModel : public testing::TestWithParam<std::pair<Activation, std::vector<std::int64_t>>> {
 protected:
  DeepEnergyModel model_{{.inputs = 2, .layers = GetParam().second, .activation = GetParam().first}};
  Moments theta_ = random_deep_energy(model_, 3);
};

TEST_P(EveryDeepEnergyModel, HasTheGradientsOfItsLogDensity) {
  support::expect_gradients(model_, theta_);
  support::expect_grouped_once(model_, theta_);
}

TEST_P(EveryDeepEnergyModel, StartsItsPathAtTheGaussianItDrawsFrom) {
  const at::Tensor v = rows_of_values(2), precision = theta_["visible.log_precision"].exp();
  const at::Tensor mean = theta_["visible.bias"] / precision;
  const at::Tensor expected = (-0.5 * precision * (v - mean).square() + 0.5 * (precision / (2 * M_PI)).log()).sum(1);
  EXPECT_LT(largest_of(model_.log_f(v, theta_, 0) - model_.base_log_z(theta_) - expected), 1e-12);
  const at::Tensor draws = (model_.base_draws(theta_, Key(5), 4000) - mean) * precision.sqrt();
  // Means and variances within five standard errors: false alarms 3·10⁻⁶ for all four.
  EXPECT_LT(largest_of(draws.mean(0)), 5 / std::sqrt(4000.0));
  EXPECT_LT(largest_of(draws.square().mean(0) - 1), 5 * std::sqrt(2.0 / 4000));
}

// The integral over a square does not grow with the square.
TEST_P(EveryDeepEnergyModel, HasAnIntegral) {
  EXPECT_EQ(model_.complaint(theta_), "");
  const double inside = Square{.reach = 60, .points = 601}.log_integral(model_, theta_);
  EXPECT_TRUE(std::isfinite(inside));
  EXPECT_NEAR((Square{.reach = 120, .points = 1201}.log_integral(model_, theta_)), inside, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, EveryDeepEnergyModel,
                         testing::Values(std::pair(Activation::tanh, std::vector<std::int64_t>{4, 3}),
                                         std::pair(Activation::softplus, std::vector<std::int64_t>{3, 4, 2}),
                                         std::pair(Activation::tanh, std::vector<std::int64_t>{3})),
                         [](const auto& one) {
                           return format("{}_{}", to_string(one.param.first), one.param.second.size());
                         });

TEST(DeepEnergyModel, IsTheFormulaOfItsHeader) {
  const DeepEnergyModel model({.inputs = 2, .layers = {2, 1}, .activation = Activation::tanh});
  const Moments theta = {{"visible.bias", at::tensor({0.5, -1.0}, at::kDouble)},
                         {"visible.log_precision", at::tensor({std::log(2.0)}, at::kDouble)},
                         {"net.layer1.weights", at::tensor({1.0, 0.0, 2.0, -1.0}, at::kDouble).view({2, 2})},
                         {"net.layer1.bias", at::tensor({0.0, 0.3}, at::kDouble)},
                         {"net.layer2.weights", at::tensor({1.5, -2.0}, at::kDouble).view({2, 1})},
                         {"net.layer2.bias", at::tensor({0.2}, at::kDouble)}};
  const double x = 0.4, y = -0.7, g1 = std::tanh(x + 2 * y), g2 = std::tanh(0.3 - y);
  const double expected = 0.5 * x - y - (x * x + y * y) + std::log1p(std::exp(0.2 + 1.5 * g1 - 2 * g2));
  EXPECT_NEAR(model.log_f(at::tensor({x, y}, at::kDouble).view({1, 2}), theta).item<double>(), expected, 1e-14);
}

TEST(DeepEnergyModel, WithoutLayersBelowIsAGaussianRbm) {
  const DeepEnergyModel model({.inputs = 2, .layers = {3}});
  const Moments theta = random_deep_energy(model, 6);
  BoltzmannMachine machine = make_rbm("gaussian:2", "bernoulli:3", at::kDouble);
  const auto set = [&](const char* name, const at::Tensor& value) {
    at::Tensor(machine.parameters()[name]).copy_(value);
  };
  set("visible.bias", theta["visible.bias"]);
  set("visible.precision", theta["visible.log_precision"].exp().expand({2}));
  set("visible_hidden.weights", theta["net.layer1.weights"]);
  set("hidden.bias", theta["net.layer1.bias"]);
  const at::Tensor v = rows_of_values(2);
  EXPECT_LT(largest_of(model.log_f(v, theta) - log_unnormalized(machine, State{.layers = {v, at::Tensor()}})), 1e-12);
  EXPECT_NEAR(Square{}.log_integral(model, theta), exact_log_z(machine).value, 1e-9);
}

// Three clusters: after a short training the density is nearer to the truth than the Gaussian of the same data, both by
// quadrature, and annealing finds log Z.
TEST(DeepEnergyModel, LearnsClustersAndAnnealingFindsItsLogZ) {
  const Square square{.reach = 7, .points = 561};
  const at::Tensor centres = at::tensor({-1.3, -0.8, 1.3, -0.8, 0.0, 1.4}, at::kDouble).view({3, 2});
  constexpr double width = 0.3;
  const auto truth = [&](const at::Tensor& v) {
    const at::Tensor squares = (v.unsqueeze(1) - centres).square().sum(2) / (width * width);
    return at::logsumexp(-0.5 * squares, 1) - std::log(3 * 2 * M_PI * width * width);
  };
  const at::Tensor which = (uniform(Key(1), {20'000}, at::kDouble) * 3).to(at::kLong).clamp_max(2);
  const at::Tensor rows = centres.index_select(0, which) + width * normal(Key(2), {20'000, 2}, at::kDouble);
  const auto model = std::make_shared<const DeepEnergyModel>(
      DeepEnergyStructure{.inputs = 2, .layers = {24, 12}, .activation = Activation::softplus});
  auto objective = std::make_unique<EnergyContrast>(model, model->initial_parameters(Key(3)),
                                                    EnergyContrastOptions{.particles = 200, .leapfrog = 10}, Key(4));
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  Training training(std::move(objective), std::move(optimizer),
                    BatchStream({.name = "clusters", .values = rows.to(at::kFloat)}, {.batch = 200}, Key(5)),
                    {.rate_bias = 0.01, .rate_weights = 0.01, .schedule = Schedule::linear},
                    {.updates = 1500, .averaging = 100, .seed = 6});
  while (!training.finished()) training.step();
  const Moments theta = training.averaged().to(at::kDouble);
  const double log_z = square.log_integral(*model, theta);
  const at::Tensor grid = square.grid(), d = rows - rows.mean(0);
  const at::Tensor precision = at::linalg_inv(d.t().matmul(d) / 20'000);
  const at::Tensor away = grid - rows.mean(0);
  const at::Tensor gaussian =
      -0.5 * (away.matmul(precision) * away).sum(1) + 0.5 * at::logdet(precision) - std::log(2 * M_PI);
  const double of_gaussian = square.divergence(truth(grid), gaussian);
  const double of_model = square.divergence(truth(grid), model->log_f(grid, theta) - log_z);
  EXPECT_GT(of_gaussian, 1);
  EXPECT_LT(of_model, 0.2);
  const AisResult up = ais(FreeEnergyPath(*model, theta, 7), 500, 400, {.seed = 8});
  const at::Tensor w = (up.log_weights - log_z).exp();
  // Four standard errors: false alarms 6·10⁻⁵.
  EXPECT_NEAR(w.mean().item<double>(), 1, 4 * w.std().item<double>() / std::sqrt(500.0));
  EXPECT_GT(*up.log_z.effective_samples, 100);
}

TEST(DeepEnergyModel, KeepsItsPrecisionWithinBoundsAndRefusesWhatIsNoModel) {
  const DeepEnergyModel model({.inputs = 2, .layers = {3}, .spread = 0.5});
  Moments theta = random_deep_energy(model, 6);
  theta["visible.log_precision"].fill_(-30);
  model.constrain_(theta);
  EXPECT_NEAR(theta["visible.log_precision"].exp().item<double>(), 0.4, 1e-12);
  theta["visible.log_precision"].fill_(INFINITY);
  EXPECT_NE(model.complaint(theta), "");
  EXPECT_THROW(DeepEnergyModel({.inputs = 2, .layers = {}}), Error);
  EXPECT_THROW(DeepEnergyModel({.inputs = 2, .layers = {3, 0}}), Error);
  EXPECT_THROW(DeepEnergyModel({.inputs = 2, .layers = {3}, .activation = Activation::softmax}), Error);
}

}  // namespace
}  // namespace harmonium
