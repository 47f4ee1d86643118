// Models of real values by an unnormalized log-density: gradients against differences, log f and log Z against
// enumeration and quadrature.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "tests/support/energy_checks.h"
#include "tests/support/free_energy.h"

namespace harmonium {
namespace {

using support::CovarianceCase;
using support::rows_of_values;
using support::Square;

double largest(const at::Tensor& difference) { return support::largest_of(difference); }

class EveryCovarianceModel : public testing::TestWithParam<CovarianceCase> {
 protected:
  CovarianceModel model_{GetParam().structure};
  Moments theta_ = support::random_parameters(model_, 3);
  at::Tensor v_ = rows_of_values(model_.inputs());
};

TEST_P(EveryCovarianceModel, HasTheGradientsOfItsLogDensity) { support::expect_gradients(model_, theta_); }

TEST_P(EveryCovarianceModel, StartsItsPathAtTheGaussianItDrawsFrom) {
  // log f_0(v) − log Z_0 = log N(v; mean, I), whose mean is the bias or zero.
  const at::Tensor mean =
      theta_.contains("visible.bias") ? theta_["visible.bias"] : at::zeros({model_.inputs()}, at::kDouble);
  const at::Tensor expected =
      -0.5 * (v_ - mean).square().sum(1) - 0.5 * static_cast<double>(model_.inputs()) * std::log(2 * M_PI);
  EXPECT_LT(largest(model_.log_f(v_, theta_, 0) - model_.base_log_z(theta_) - expected), 1e-12);
  const at::Tensor draws = model_.base_draws(theta_, Key(5), 4000) - mean;
  // Five standard errors of a mean of 4000: false alarms one in 10⁶ for each input.
  EXPECT_LT(largest(draws.mean(0)), 5 / std::sqrt(4000.0));
}

TEST_P(EveryCovarianceModel, GroupsItsParametersOnceAndHasFeaturesOfItsUnits) {
  support::expect_grouped_once(model_, theta_);
  const auto features = model_.features(v_, theta_);
  EXPECT_EQ(features.back().first, "covariance");
  EXPECT_EQ(features.back().second.size(1), model_.structure().covariance());
  EXPECT_EQ(features.size(), model_.structure().hidden > 0 ? 2U : 1U);
}

TEST_P(EveryCovarianceModel, ImpliesTheCovarianceOfUnitsThatAreOnAround) {
  // Mean units that are surely on, and covariance units at the row where their means do not move.
  if (theta_.contains("hidden.bias")) theta_["hidden.bias"].fill_(80);
  support::expect_curvature(model_, theta_, at::zeros({1, 3}, at::kDouble));
  if (model_.structure().units != CovarianceUnits::switches) return;
  at::Tensor bias = theta_["covariance.bias"];
  bias.fill_(80);
  bias[0].fill_(-80);
  support::expect_curvature(model_, theta_, v_.narrow(0, 0, 1));
}

INSTANTIATE_TEST_SUITE_P(All, EveryCovarianceModel, testing::ValuesIn(support::covariance_cases(3)),
                         [](const auto& one) { return one.param.name; });

TEST(CovarianceModel, OfBinaryUnitsHasTheLogZThatQuadratureFinds) {
  for (const CovarianceCase& each : support::covariance_cases(2)) {
    if (each.structure.units != CovarianceUnits::switches) continue;
    const CovarianceModel model(each.structure);
    const Moments theta = support::random_parameters(model, 8);
    EXPECT_NEAR(model.exact_log_z(theta), Square{}.log_integral(model, theta), 1e-10) << each.name;
  }
}

TEST(CovarianceModel, KnownFromElsewhereHasItsLogZ) {
  const support::KnownMcrbm known;
  EXPECT_NEAR(known.model.exact_log_z(known.theta), 5.051593, 5e-7);
  EXPECT_NEAR(Square{}.log_integral(known.model, known.theta), 5.051593, 5e-7);
}

// log f is the log of the sum, over all hidden states, of the joint density.
TEST(CovarianceModel, SumsOutItsHiddenStates) {
  const support::KnownMcrbm known;
  const at::Tensor v = rows_of_values(2), u = v.matmul(known.theta["filters.weights"]);
  at::Tensor sum = at::zeros({5}, at::kDouble);
  for (int state = 0; state < 8; ++state) {
    at::Tensor e = v.matmul(known.theta["visible.bias"]) - 0.5 * v.square().sum(1);
    for (int k = 0; k < 2; ++k)
      if ((state >> k) & 1) e = e + known.theta["covariance.bias"][k] - 0.5 * u.select(1, k).square();
    if ((state >> 2) & 1)
      e = e + known.theta["hidden.bias"][0] + v.matmul(known.theta["visible_hidden.weights"]).select(1, 0);
    sum += e.exp();
  }
  EXPECT_LT(largest(known.model.log_f(v, known.theta) - sum.log()), 1e-13);
}

// As many Student-t factors as inputs are independent sources: ∫ (1 + ½u²)^{−γ} du in closed form, over |det C|.
TEST(CovarianceModel, OfStudentFactorsIsIndependentSourcesWhereFiltersAreSquare) {
  const CovarianceModel line({.inputs = 1, .filters = 1, .units = CovarianceUnits::gammas, .contained = false});
  const Moments wide{{"filters.weights", at::full({1, 1}, 0.8, at::kDouble)},
                     {"covariance.gamma", at::full({1}, 2.5, at::kDouble)}};
  // With u = √2 tan t the integral is one over a finite interval: √2 cos^{2γ−2} t dt / c.
  constexpr int points = 4001;
  double integral = 0;
  for (int i = 0; i < points; ++i) {
    const double t = -M_PI / 2 + M_PI * i / (points - 1.0);
    integral += std::sqrt(2.0) * std::pow(std::abs(std::cos(t)), 3.0) / 0.8 * M_PI / (points - 1.0);
  }
  EXPECT_NEAR(line.exact_log_z(wide), std::log(integral), 1e-9);
  const CovarianceModel pair({.inputs = 2, .filters = 2, .units = CovarianceUnits::gammas, .contained = false});
  Moments theta = support::random_parameters(pair, 4);
  theta["covariance.gamma"].fill_(8);  // tails that end within the square
  EXPECT_NEAR(pair.exact_log_z(theta), (Square{.reach = 60, .points = 2401}.log_integral(pair, theta)), 1e-6);
}

TEST(CovarianceModel, DrawsExactly) {
  const support::KnownMcrbm known;
  // Means, squares and the product against quadrature, within 4.5 standard errors: false alarms 3·10⁻⁵ in all five.
  EXPECT_LT(
      support::deviation_of_moments(known.model.exact_draws(known.theta, Key(9), 40'000), known.model, known.theta),
      4.5);
}

// Draws of f_β by quadrature stay draws of f_β under a sweep.
TEST(CovarianceModel, KeepsItsDensityUnderGibbsSampling) {
  constexpr std::int64_t n = 40'000, points = 701;
  const double cell = 28.0 / (points - 1);
  const at::Tensor axis = at::linspace(-14, 14, points, at::kDouble);
  const at::Tensor grid = at::stack({axis.repeat_interleave(points), axis.repeat({points})}, 1);
  // Bounded, since products of Student-t have heavy tails.
  const auto statistics = [](const at::Tensor& v) {
    const at::Tensor near = v.tanh();
    return at::cat({near, near.square(), near.prod(1, true), v.abs().add(1).log()}, 1);
  };
  for (const CovarianceCase& each : support::covariance_cases(2)) {
    const CovarianceModel model(each.structure);
    Moments theta = support::random_parameters(model, 8);
    // Within the grid: light tails, and filters of pot that hold every direction.
    if (each.structure.units == CovarianceUnits::gammas) theta["covariance.gamma"].add_(3);
    if (!each.structure.contained) theta["filters.weights"].diagonal().add_(3);
    for (const double beta : {0.4, 1.0}) {
      const at::Tensor p = at::softmax(model.log_f(grid, theta, beta), 0);
      const at::Tensor chosen =
          at::searchsorted(p.cumsum(0), uniform(Key(11), {n}, at::kDouble)).clamp_max(points * points - 1);
      const at::Tensor before = grid.index_select(0, chosen) + cell * (uniform(Key(12), {n, 2}, at::kDouble) - 0.5);
      at::Tensor v = before.clone();
      model.gibbs_(v, theta, Key(13), beta);
      // Seven statistics of twelve densities within 5 standard errors: false alarms 5·10⁻⁵ in all.
      const at::Tensor found = statistics(v), expected = p.matmul(statistics(grid));
      const at::Tensor errors = (found.mean(0) - expected).abs() / (found.std(0) / std::sqrt(double{n}));
      EXPECT_LT(largest(errors), 5) << each.name << " at " << beta;
      // And it moves: no row stays near its place because nothing was drawn.
      EXPECT_LT((v * before).tanh().mean().item<double>(), before.square().tanh().mean().item<double>() - 0.02)
          << each.name << " at " << beta;
    }
  }
}

TEST(FreeEnergyModel, WithoutGibbsSamplingSaysSo) {
  class Bare final : public FreeEnergyModel {
    [[nodiscard]] std::int64_t inputs() const override { return 1; }
    [[nodiscard]] Moments initial_parameters(const Key&, at::ScalarType) const override { return {}; }
    [[nodiscard]] std::vector<ParameterGroup> groups() const override { return {}; }
    [[nodiscard]] at::Tensor log_f(const at::Tensor&, const Moments&, double) const override { return {}; }
    [[nodiscard]] at::Tensor score(const at::Tensor&, const Moments&, double) const override { return {}; }
    [[nodiscard]] Moments moments(const at::Tensor&, const Moments&) const override { return {}; }
    void constrain_(Moments&) const override {}
    [[nodiscard]] std::string complaint(const Moments&) const override { return {}; }
    [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> features(const at::Tensor&,
                                                                           const Moments&) const override {
      return {};
    }
    [[nodiscard]] double base_log_z(const Moments&) const override { return 0; }
    [[nodiscard]] at::Tensor base_draws(const Moments&, const Key&, std::int64_t) const override { return {}; }
  };
  const Bare bare;
  const FreeEnergyModel& model = bare;
  at::Tensor v = at::zeros({1, 1});
  EXPECT_FALSE(model.has_gibbs());
  EXPECT_THROW(model.gibbs_(v, {}, Key(1)), Error);
}

TEST(CovarianceModel, KeepsItsParametersInTheirDomain) {
  const CovarianceModel model(
      {.inputs = 3, .filters = 4, .pooled = 2, .units = CovarianceUnits::gammas, .equal_norms = true});
  Moments theta = support::random_parameters(model, 5);
  theta["covariance.gamma"].fill_(-1);
  theta["pooling.weights"].sub_(0.3);
  theta["filters.weights"].select(1, 0).mul_(9);
  model.constrain_(theta);
  EXPECT_EQ(theta["covariance.gamma"].min().item<double>(), 0.6);
  EXPECT_GE(theta["pooling.weights"].min().item<double>(), 0);
  EXPECT_LT(largest(theta["pooling.weights"].sum(0) - 1), 1e-12);
  const at::Tensor lengths = theta["filters.weights"].norm(2, 0);
  EXPECT_LT(largest(lengths - lengths[0]), 1e-12);
  EXPECT_EQ(model.complaint(theta), "");
}

TEST(CovarianceModel, RefusesWhatIsNoDistribution) {
  EXPECT_THROW(CovarianceModel({.inputs = 4, .filters = 3, .units = CovarianceUnits::gammas, .contained = false}),
               Error);
  const CovarianceModel model({.inputs = 2, .filters = 3, .units = CovarianceUnits::gammas, .contained = false});
  Moments theta = support::random_parameters(model, 6);
  EXPECT_EQ(model.complaint(theta), "");
  theta["filters.weights"][1].copy_(2 * theta["filters.weights"][0]);
  EXPECT_NE(model.complaint(theta), "");
}

}  // namespace
}  // namespace harmonium
