#include "harmonium/experiments/repeated_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace harmonium {
namespace {

TEST(RepeatedRuns, QuantilesAreThoseOfTheTables) {
  // Two-sided 95 % and 99 % points as every table of Student's distribution has them, to three decimals.
  for (const auto& [degrees, t] :
       std::vector<std::pair<int, double>>{{1, 12.706}, {2, 4.303}, {4, 2.776}, {9, 2.262}, {30, 2.042}, {120, 1.980}})
    EXPECT_NEAR(student_quantile(0.95, degrees), t, 5e-4) << degrees;
  EXPECT_NEAR(student_quantile(0.99, 1), 63.657, 5e-4);
  EXPECT_NEAR(student_quantile(0.99, 10), 3.169, 5e-4);
}

TEST(RepeatedRuns, TheIntervalIsStudentsAroundTheMean) {
  const RunsSummary summary = summarize_runs(std::vector<double>{1, 2, 3, 4, 10});
  EXPECT_EQ(summary.n, 5);
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(*summary.deviation, std::sqrt(50.0 / 4));  // 9 + 4 + 1 + 0 + 36
  EXPECT_DOUBLE_EQ(*summary.standard_error, std::sqrt(2.5));
  EXPECT_NEAR(summary.high - 4, 2.776 * std::sqrt(2.5), 1e-3);
  EXPECT_NEAR(4 - summary.low, 2.776 * std::sqrt(2.5), 1e-3);
}

TEST(RepeatedRuns, ASingleRunHasNoSpread) {
  const RunsSummary summary = summarize_runs(std::vector<double>{-7});
  EXPECT_EQ(summary.mean, -7);
  EXPECT_EQ(summary.low, -7);
  EXPECT_EQ(summary.high, -7);
  EXPECT_FALSE(summary.deviation || summary.standard_error);
  EXPECT_FALSE(difference_of(summary, summarize_runs(std::vector<double>{1, 2})).standard_error);
}

TEST(RepeatedRuns, ErrorsOfADifferenceAddAsSquares) {
  const RunsSummary a{.n = 2, .mean = 5, .deviation = 1, .standard_error = 3};
  const RunsSummary b{.n = 2, .mean = 7, .deviation = 1, .standard_error = 4};
  EXPECT_DOUBLE_EQ(difference_of(a, b).value, -2);
  EXPECT_DOUBLE_EQ(*difference_of(a, b).standard_error, 5);
}

}  // namespace
}  // namespace harmonium
