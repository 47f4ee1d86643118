// Hamiltonian Monte Carlo: the path is reversible and of second order, draws have the moments of their density.
#include "harmonium/samplers/hmc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/free_energy.h"

namespace harmonium {
namespace {

// N(mean, Λ⁻¹) in three dimensions, deviations between about 0.5 and 2.
struct ThreeNumbers {
  at::Tensor mean = at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  at::Tensor precision = at::tensor({4.0, 1.0, 0.0, 1.0, 1.0, 0.2, 0.0, 0.2, 0.5}, at::kDouble).view({3, 3});
  HmcTarget target{.log_f =
                       [this](const at::Tensor& v) {
                         const at::Tensor d = v - mean;
                         return -0.5 * (d.matmul(precision) * d).sum(1);
                       },
                   .score = [this](const at::Tensor& v) { return -(v - mean).matmul(precision); }};
};

TEST(Hmc, ComesBackWhereItCameFromWhenMomentaAreTurned) {
  const support::KnownMcrbm known;
  const HmcTarget target = hmc_target(known.model, known.theta);
  const at::Tensor start = normal(Key(1), {6, 2}, at::kDouble), steps = at::full({6, 1}, 0.2, at::kDouble);
  at::Tensor v = start.clone(), p = normal(Key(2), {6, 2}, at::kDouble);
  leapfrog_(target, v, p, steps, 15);
  EXPECT_GT((v - start).abs().max().item<double>(), 0.1);
  p.neg_();
  leapfrog_(target, v, p, steps, 15);
  EXPECT_LT((v - start).abs().max().item<double>(), 1e-12);
}

TEST(Hmc, ErrsByASquareOfItsStep) {
  const support::KnownMcrbm known;
  const HmcTarget target = hmc_target(known.model, known.theta);
  const auto error = [&](double step, std::int64_t leapfrog) {
    at::Tensor v = known.model.exact_draws(known.theta, Key(3), 2000);
    return hmc(target, v, step, leapfrog, Key(4)).energy_change.abs().mean().item<double>();
  };
  const double ratio = error(0.2, 5) / error(0.1, 10);
  EXPECT_GT(ratio, 3.6);
  EXPECT_LT(ratio, 4.4);
}

TEST(Hmc, DrawsAGaussianWithItsMomentsFromAFarStart) {
  const ThreeNumbers three;
  constexpr std::int64_t chains = 4000;
  at::Tensor v = at::full({chains, 3}, 5.0, at::kDouble);
  double accepted = 0;
  for (std::uint64_t i = 0; i < 60; ++i) accepted += hmc(three.target, v, 0.3, 8, Key(5).fold_in(i)).accepted / 60;
  EXPECT_GT(accepted, 0.8);
  EXPECT_LT(accepted, 1.0);
  // Chains are independent. Three means and six second moments, each within 4.5 standard errors: false alarms 6·10⁻⁵.
  const at::Tensor covariance = at::linalg_inv(three.precision), d = v - three.mean;
  const at::Tensor z = d.mean(0).abs() / (covariance.diagonal() / double{chains}).sqrt();
  EXPECT_LT(z.max().item<double>(), 4.5);
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = i; j < 3; ++j) {
      const at::Tensor product = d.select(1, i) * d.select(1, j);
      const double error = product.std().item<double>() / std::sqrt(double{chains});
      EXPECT_NEAR(product.mean().item<double>(), covariance[i][j].item<double>(), 4.5 * error) << i << " " << j;
    }
}

// Draws of a model stay draws of it however large the step, since what is wrong with a path is rejected.
TEST(Hmc, LeavesEveryCovarianceModelAsItIs) {
  for (const auto& each : support::covariance_cases(2)) {
    if (each.structure.units != CovarianceUnits::switches) continue;
    const CovarianceModel model(each.structure);
    const Moments theta = support::random_parameters(model, 8);
    constexpr std::int64_t n = 20'000;
    const auto statistics = [](const at::Tensor& v) { return at::cat({v, v.square(), v.prod(1, true)}, 1); };
    at::Tensor v = model.exact_draws(theta, Key(6), n);
    const at::Tensor expected = statistics(model.exact_draws(theta, Key(7), n));
    for (std::uint64_t i = 0; i < 5; ++i) {
      const double accepted = hmc(hmc_target(model, theta), v, 0.9, 4, Key(8).fold_in(i)).accepted;
      EXPECT_LT(accepted, 0.98) << "a step that tests rejection";
    }
    // Five differences of two means, each within 4.5 standard errors: false alarms 3·10⁻⁵ a model.
    const at::Tensor found = statistics(v);
    const at::Tensor errors = ((found.var(0) + expected.var(0)) / double{n}).sqrt();
    EXPECT_LT(((found.mean(0) - expected.mean(0)).abs() / errors).max().item<double>(), 4.5) << each.name;
  }
}

TEST(Hmc, CountsDivergencesAndStaysThere) {
  const HmcTarget cliff{.log_f = [](const at::Tensor& v) { return -v.pow(4).sum(1).to(at::kDouble); },
                        .score = [](const at::Tensor& v) { return -4 * v.pow(3); }};
  at::Tensor v = at::full({7, 2}, 10.0, at::kDouble);
  const at::Tensor before = v.clone();
  const HmcOutcome outcome = hmc(cliff, v, 1.0, 10, Key(9));
  EXPECT_EQ(outcome.divergences, 7);
  EXPECT_EQ(outcome.accepted, 0);
  EXPECT_TRUE(at::equal(v, before));
}

TEST(Hmc, DependsOnKeyAndStartAlone) {
  const support::KnownMcrbm known;
  at::Tensor one = normal(Key(1), {6, 2}, at::kDouble), other = one.clone(), third = one.clone();
  (void)hmc(hmc_target(known.model, known.theta), one, 0.3, 5, Key(2));
  (void)hmc(hmc_target(known.model, known.theta), other, 0.3, 5, Key(2));
  (void)hmc(hmc_target(known.model, known.theta), third, 0.3, 5, Key(3));
  EXPECT_TRUE(at::equal(one, other));
  EXPECT_FALSE(at::equal(one, third));
}

TEST(Hmc, FindsAStepThatIsAcceptedAsOftenAsAskedFor) {
  const ThreeNumbers three;
  at::Tensor v = three.mean + normal(Key(1), {500, 3}, at::kDouble);
  const double step = find_hmc_step(three.target, v, 0.01, 8, Key(2));
  double accepted = 0;
  for (std::uint64_t i = 0; i < 20; ++i) accepted += hmc(three.target, v, step, 8, Key(3).fold_in(i)).accepted / 20;
  EXPECT_NEAR(accepted, 0.8, 0.1);
  HmcStep following;
  for (std::uint64_t i = 0; i < 1500; ++i)
    following.observe(hmc(three.target, v, following.step, 8, Key(4).fold_in(i)).accepted);
  EXPECT_TRUE(following.step == HmcStep::most || std::abs(following.acceptance - 0.9) < 0.05) << following.step;
}

}  // namespace
}  // namespace harmonium
