#include "harmonium/training/step_rule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

Moments values(double bias, double weight) {
  return {{"v.bias", at::full({1}, bias, at::kDouble)}, {"w", at::full({1, 1}, weight, at::kDouble)}};
}
Direction direction(double unary, double pairwise_bias, double weight) {
  return {.unary = {{"v.bias", at::full({1}, unary, at::kDouble)}}, .pairwise = values(pairwise_bias, weight)};
}
const std::vector<ParameterGroup> groups = groups_of(Topology{{{"v", 1, {"v.bias"}}}, {{"w", 0, 0}}});

TEST(StepRule, ScalesUnaryAndPairwisePartsByTheirOwnRates) {
  Moments theta = values(1, 2);
  StepRule rule({.rate_bias = 0.5, .rate_weights = 0.25, .schedule = Schedule::constant}, 10);
  rule.apply_(theta, direction(4, 8, 16), 0);
  EXPECT_DOUBLE_EQ(theta["v.bias"].item<double>(), 1 + 0.5 * 4 + 0.25 * 8);
  EXPECT_DOUBLE_EQ(theta["w"].item<double>(), 2 + 0.25 * 16);
}

TEST(StepRule, RaisesItsRatesFromZeroBesideTheSchedule) {
  const StepRule rule({.rate_bias = 1, .rate_weights = 2, .schedule = Schedule::linear, .warmup = 4}, 10);
  for (std::int64_t update = 0; update < 10; ++update) {
    const double expected = std::min(1.0, static_cast<double>(update + 1) / 4) * (1 - static_cast<double>(update) / 10);
    EXPECT_NEAR(rule.rates(update).bias, expected, 1e-15);
    EXPECT_NEAR(rule.rates(update).weights, 2 * expected, 1e-15);
  }
}

TEST(StepRule, MomentumAddsGeometricallyFadingEarlierSteps) {
  Moments theta = values(0, 0);
  StepRule rule({.rate_bias = 1, .rate_weights = 1, .schedule = Schedule::constant, .momentum = 0.5}, 10);
  for (int t = 0; t < 3; ++t) rule.apply_(theta, direction(1, 0, 1), t);
  EXPECT_DOUBLE_EQ(theta["w"].item<double>(), 1 + 1.5 + 1.75);
}

// What an update leaves out stays where it is: neither inertia nor decay moves it.
TEST(StepRule, LeavesAloneWhatADirectionDoesNotHave) {
  Moments theta = values(0, 0);
  StepRule rule({.rate_bias = 1, .rate_weights = 1, .schedule = Schedule::constant, .momentum = 0.5}, 10);
  rule.apply_(theta, direction(1, 0, 1), 0);
  rule.apply_(theta, {.unary = {{"v.bias", at::ones({1}, at::kDouble)}}, .pairwise = {}}, 1);
  EXPECT_DOUBLE_EQ(theta["w"].item<double>(), 1);
  EXPECT_DOUBLE_EQ(theta["v.bias"].item<double>(), 1 + 1.5);
  rule.apply_(theta, direction(0, 0, 1), 2);
  EXPECT_DOUBLE_EQ(theta["w"].item<double>(), 1 + 1.5) << "its velocity waited for it";
  Moments gradient{{"v.bias", at::ones({1}, at::kDouble)}};
  StepRule({.weight_decay = 0.1}, 10).penalize_(gradient, theta, groups);
  EXPECT_EQ(gradient.entries().size(), 1U);
}

TEST(StepRule, WeightDecayPullsWeightsAndLeavesBiasesAlone) {
  Moments gradient = values(1, 1);
  StepRule({.weight_decay = 0.1}, 10).penalize_(gradient, values(5, 5), groups);
  EXPECT_DOUBLE_EQ(gradient["v.bias"].item<double>(), 1);
  EXPECT_DOUBLE_EQ(gradient["w"].item<double>(), 1 - 0.1 * 5);
}

TEST(StepRule, L1DecayPullsAllWeightsAlikeAndZeroNot) {
  Moments gradient = values(1, 1), still = values(1, 1);
  StepRule({.weight_decay_l1 = 0.1}, 10).penalize_(gradient, values(5, -5), groups);
  EXPECT_DOUBLE_EQ(gradient["v.bias"].item<double>(), 1);
  EXPECT_DOUBLE_EQ(gradient["w"].item<double>(), 1 + 0.1);
  StepRule({.weight_decay_l1 = 0.1}, 10).penalize_(still, values(5, 0), groups);
  EXPECT_DOUBLE_EQ(still["w"].item<double>(), 1);
}

TEST(Schedule, FollowsItsFormulas) {
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::constant, 7, 10, 1000), 1);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::linear, 0, 10, 1000), 1);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::linear, 9, 10, 1000), 1 - 0.9);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::sqrt, 3000, 10, 1000), 0.5);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::inverse, 3000, 10, 1000), 0.25);
  EXPECT_DOUBLE_EQ(schedule_factor(Schedule::sqrt_linear, 3000, 6000, 1000), 0.25);
  for (const auto& [schedule, name] : schedules()) EXPECT_EQ(parse_schedule(to_string(schedule)), schedule) << name;
  EXPECT_THROW((void)parse_schedule("cosine"), Error);
}

}  // namespace
}  // namespace harmonium
