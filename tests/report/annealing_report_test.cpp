#include "harmonium/report/annealing_report.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

Estimate log_z(double value, EstimateKind kind, const std::string& method) {
  return {.value = value,
          .low = value - 0.1,
          .high = value + 0.1,
          .kind = kind,
          .method = method,
          .chains = 100,
          .effective_samples = kind == EstimateKind::unbiased_estimate ? std::optional(90.0) : std::nullopt};
}

// log f is 30 on average and log Z 50: a log-likelihood of −20. AIS is 7 nats low at 10 β and right at 100.
AnnealingStudy study() {
  return {.model = "a model",
          .data = "rows",
          .base = "base rates",
          .exact = {.value = 50, .low = 50, .high = 50, .kind = EstimateKind::exact, .method = "exact"},
          .mean_log_unnormalized = 30,
          .betas = {10, 100},
          .methods = {"ais", "raise"},
          .measurements = {{"ais", 10, log_z(43, EstimateKind::unbiased_estimate, "ais")},
                           {"raise", 10, log_z(52, EstimateKind::upper_bound, "raise")},
                           {"ais", 100, log_z(50, EstimateKind::unbiased_estimate, "ais")},
                           {"raise", 100, log_z(50.2, EstimateKind::upper_bound, "raise")}}};
}

TEST(AnnealingReport, AnErrorAboveZeroFlattersTheModel) {
  EXPECT_DOUBLE_EQ(study().error(*study().find("ais", 10)), 7);
  EXPECT_DOUBLE_EQ(study().error(*study().find("raise", 10)), -2);
  EXPECT_EQ(study().find("ais", 11), nullptr);
}

TEST(AnnealingReport, TheSandwichIsOfAisAndRaiseAtTheSameNumberOfBetas) {
  const AnnealingStudy all = study();
  EXPECT_DOUBLE_EQ(all.sandwich(10)->gap(), 9);
  EXPECT_NE(all.verdict(*all.sandwich(10)).find("differ by 9.0 nats"), std::string::npos);
  EXPECT_NE(all.verdict(*all.sandwich(100)).find("agree"), std::string::npos);
  AnnealingStudy alone = all;
  alone.measurements.pop_back();
  EXPECT_FALSE(alone.sandwich(100).has_value());
  alone.measurements.push_back({"reverse", 100, log_z(51, EstimateKind::upper_bound, "reverse ais")});
  EXPECT_DOUBLE_EQ(alone.sandwich(100)->gap(), 1) << "reverse AIS stands in for RAISE";
}

TEST(AnnealingReport, ThePageShowsCurvesErrorsAndVerdicts) {
  const ReportContent content = annealing_report(study());
  ASSERT_EQ(content.charts.size(), 1U);
  ASSERT_EQ(content.charts[0].series.size(), 3U) << "two methods and the exact value";
  EXPECT_EQ(content.charts[0].series[0].y, (std::vector<double>{-13, -20}));
  EXPECT_EQ(content.charts[0].series[2].y, (std::vector<double>{-20, -20}));
  ASSERT_EQ(content.tables.size(), 2U);
  EXPECT_EQ(content.tables[0].rows[0], (std::vector<std::string>{"10", "+7.00", "−2.00", "90.0 of 100", "9.00"}));
  EXPECT_EQ(content.tables[1].rows[0].back(), "yes") << "−20 is between −22 and −13";
  AnnealingStudy fooled = study();
  fooled.exact.value = 55;
  EXPECT_EQ(annealing_report(fooled).tables[1].rows[0].back(), "no");
}

}  // namespace
}  // namespace harmonium
