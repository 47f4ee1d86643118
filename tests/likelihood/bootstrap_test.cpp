#include "harmonium/likelihood/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

const at::Tensor one_and_three = at::tensor({0.0, std::log(3.0)}, at::kDouble);

TEST(LogMeanExp, IsTheLogOfTheMeanOfTheWeights) {
  EXPECT_NEAR(log_mean_exp(one_and_three), std::log(2.0), 1e-15);
  EXPECT_NEAR(log_mean_exp(one_and_three + 5000), 5000 + std::log(2.0), 1e-11) << "no overflow";
  EXPECT_NEAR(log_mean_exp(one_and_three - 5000), -5000 + std::log(2.0), 1e-11) << "no underflow";
  EXPECT_THROW(static_cast<void>(log_mean_exp(at::empty({0}, at::kDouble))), Error);
}

TEST(EffectiveSampleSize, CountsEqualWeightsWholeAndOneGiantOnce) {
  EXPECT_NEAR(effective_sample_size(at::full({37}, -812.5, at::kDouble)), 37, 1e-9);
  at::Tensor giant = at::zeros({37}, at::kDouble);
  giant[11] = 900;
  EXPECT_NEAR(effective_sample_size(giant), 1, 1e-12);
  EXPECT_NEAR(effective_sample_size(one_and_three), 16.0 / 10, 1e-14);
  EXPECT_NEAR(effective_sample_size(one_and_three + 300), 16.0 / 10, 1e-11) << "a common factor changes nothing";
}

TEST(Bootstrap, OfEqualWeightsHasNoWidth) {
  const Interval interval = bootstrap_log_mean_exp(at::full({50}, 3.25, at::kDouble), Key(1));
  EXPECT_NEAR(interval.low, 3.25, 1e-14);
  EXPECT_NEAR(interval.high, 3.25, 1e-14);
}

// Two weights have three possible resampled means: 1 and 3 a quarter of the time each, 2 half of it. Quantiles inside
// (0, ¼), (¼, ¾), (¾, 1) are therefore known exactly unless 10 000 resamples stray by five per cent (probability <
// 1e-20).
TEST(Bootstrap, OfTwoWeightsHasTheQuantilesOfTheThreeMeans) {
  const Interval wide = bootstrap_log_mean_exp(one_and_three, Key(2), 0.95, 10'000);
  EXPECT_NEAR(wide.low, 0, 1e-14);
  EXPECT_NEAR(wide.high, std::log(3.0), 1e-14);
  const Interval narrow = bootstrap_log_mean_exp(one_and_three, Key(2), 0.4, 10'000);
  EXPECT_NEAR(narrow.low, std::log(2.0), 1e-14);
  EXPECT_NEAR(narrow.high, std::log(2.0), 1e-14);
}

TEST(Bootstrap, OfManyWellBehavedWeightsIsTheNormalInterval) {
  // 2000 weights 1 + 0.2 z: the standard error of the mean is 0.2/√2000, and log is straight on that scale. The ends of
  // 4000 resamples wander by about 3 % of the half-width, the spread of the weights by 2 %; 20 % is five of those.
  const at::Tensor weights = (1 + 0.2 * normal(Key(3), {2000}, at::kDouble)).clamp_min(0.01);
  const Interval interval = bootstrap_log_mean_exp(weights.log(), Key(4), 0.95, 4000);
  const double half_width = 1.96 * 0.2 / std::sqrt(2000.0);
  EXPECT_NEAR((interval.high - interval.low) / 2, half_width, 0.2 * half_width);
  EXPECT_NEAR((interval.high + interval.low) / 2, log_mean_exp(weights.log()), 0.2 * half_width);
}

TEST(Bootstrap, ShiftsWithTheWeightsAndGrowsWithCoverage) {
  const at::Tensor log_weights = normal(Key(5), {100}, at::kDouble);
  const Interval plain = bootstrap_log_mean_exp(log_weights, Key(6)),
                 moved = bootstrap_log_mean_exp(log_weights - 2000, Key(6));
  EXPECT_NEAR(moved.low, plain.low - 2000, 1e-9);
  EXPECT_NEAR(moved.high, plain.high - 2000, 1e-9);
  const Interval narrow = bootstrap_log_mean_exp(log_weights, Key(6), 0.5);
  EXPECT_GT(narrow.low, plain.low);
  EXPECT_LT(narrow.high, plain.high);
  EXPECT_LT(narrow.low, narrow.high);
}

TEST(Bootstrap, DependsOnItsKeyAlone) {
  const at::Tensor log_weights = normal(Key(7), {100}, at::kDouble);
  EXPECT_EQ(bootstrap_log_mean_exp(log_weights, Key(8)).low, bootstrap_log_mean_exp(log_weights, Key(8)).low);
  EXPECT_NE(bootstrap_log_mean_exp(log_weights, Key(8)).low, bootstrap_log_mean_exp(log_weights, Key(9)).low);
}

}  // namespace
}  // namespace harmonium
