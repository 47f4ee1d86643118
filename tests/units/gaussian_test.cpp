#include "harmonium/units/gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "harmonium/units/unit_types.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

// Chi-square over 50 bins of equal probability, false-alarm rate 1e-6 for each of two units.
TEST(Gaussian, SamplesHaveTheQuantilesOfTheirNormalDistribution) {
  const at::Tensor bias = at::zeros({2}, at::kDouble), precision = at::empty({2}, at::kDouble);
  precision[0] = 0.25;
  precision[1] = 4.0;
  const at::Tensor field = at::full({200'000, 2}, 1.5, at::kDouble);
  const at::Tensor x = Gaussian(2).sample(Key(31), field, {bias, precision});
  for (const std::int64_t unit : {0, 1}) {
    const double lambda = precision[unit].item<double>();
    const at::Tensor z = (x.select(1, unit) - 1.5 / lambda) * std::sqrt(lambda);
    const at::Tensor u = 0.5 * at::erfc(-z / std::numbers::sqrt2);
    const at::Tensor counts = at::bincount((u * 50).floor().clamp(0, 49).to(at::kLong), {}, 50);
    support::expect_frequencies(support::numbers(counts), support::Row(50, 1.0 / 50));
  }
}

TEST(Gaussian, RecoversBiasAndPrecisionFromTheMomentsTheyGive) {
  const Gaussian unit(3);
  const at::Tensor bias = normal(Key(32), {3}, at::kDouble), precision = 0.5 + uniform(Key(33), {3}, at::kDouble);
  const auto recovered = unit.parameters_of(unit.expected_moments(bias.unsqueeze(0), {bias, precision}, {}), 0);
  support::expect_close(recovered[0], bias, 1e-12);
  support::expect_close(recovered[1], precision, 1e-12);
}

TEST(Gaussian, SmoothingBoundsTheVarianceFromBelow) {
  const Gaussian unit(1);
  const auto parameters = unit.parameters_of(unit.moments(at::full({10, 1}, 2.0, at::kDouble), {}), 0.01);
  EXPECT_NEAR(parameters[1].item<double>(), 100.0, 1e-9);
  EXPECT_NEAR(parameters[0].item<double>(), 200.0, 1e-9);
}

TEST(Gaussian, ConstrainLiftsPrecisionsToTheEdgeAndLeavesTheRest) {
  at::Tensor bias = at::full({4}, -7.0, at::kDouble), precision = at::empty({4}, at::kDouble);
  precision[0] = -2.0;
  precision[1] = 0.0;
  precision[2] = 0.5;
  precision[3] = 1e6;
  Unit::Parameters parameters = {bias, precision};
  Gaussian(4).constrain_(parameters);
  EXPECT_GT(precision[0].item<double>(), 0);
  EXPECT_EQ(precision[0].item<double>(), precision[1].item<double>());
  EXPECT_EQ(precision[2].item<double>(), 0.5);
  EXPECT_EQ(precision[3].item<double>(), 1e6);
  EXPECT_TRUE(at::equal(bias, at::full({4}, -7.0, at::kDouble)));
}

TEST(Gaussian, HoldsPrecisionsAlikeOrAtOneWhereAsked) {
  Unit::Parameters parameters = {at::zeros({3}, at::kDouble), at::tensor({1.0, 2.0, 6.0}, at::kDouble)};
  make_unit("gaussian:3:scalar")->constrain_(parameters);
  EXPECT_TRUE(at::equal(parameters[1], at::full({3}, 3.0, at::kDouble)));
  make_unit("gaussian:3:fixed")->constrain_(parameters);
  EXPECT_TRUE(at::equal(parameters[1], at::ones({3}, at::kDouble)));
  EXPECT_EQ(make_unit("gaussian:3:scalar")->spec(), "gaussian:3:scalar");
  EXPECT_EQ(fit_unit("gaussian:scalar", 12), "gaussian:12:scalar");
  EXPECT_EQ(fit_unit("gaussian:12:fixed", 12), "gaussian:12:fixed");
  support::expect_mentions(support::message_of([] { (void)make_unit("gaussian:3:free"); }),
                           {"gaussian:3:free", "scalar"});
}

TEST(Gaussian, HasNoNumberOfStatesAndSaysSoWhenAskedForThem) {
  const Gaussian unit(2);
  EXPECT_FALSE(unit.state_count().has_value());
  support::expect_mentions(support::message_of([&] { static_cast<void>(unit.states(at::arange(2), at::kFloat)); }),
                           {"gaussian:2", "infinitely many"});
}

TEST(Gaussian, ComplainsAboutTheFirstValueThatIsNotFinite) {
  at::Tensor state = 100 * normal(Key(34), {3, 2}, at::kDouble);
  EXPECT_EQ(Gaussian(2).complaint(state), "");
  state[2][0] = std::numeric_limits<double>::quiet_NaN();
  state[1][1] = std::numeric_limits<double>::infinity();
  support::expect_mentions(Gaussian(2).complaint(state), {"row 1", "column 1", "finite"});
}

}  // namespace
}  // namespace harmonium
