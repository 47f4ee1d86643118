#include "harmonium/experiments/search_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/experiments/search_comparison.h"

namespace harmonium {
namespace {

StudiedRun run(const std::string& name, double rate, std::optional<double> score) {
  return {.name = name,
          .settings = {{"rate_weights", rate}, {"gradient", rate < 0.1 ? "pcd" : "cd"}, {"rate_bias", rate}},
          .score = score,
          .failure = score ? "" : "it diverged"};
}

SearchStudy study(const std::string& score = "log_likelihood") {
  return {.scale = score_scale(score),
          .valid = "digits:valid",
          .test = "digits:test",
          .space = {{"rate_weights", NumberRange{.low = 0.01, .high = 1}},
                    {"gradient", Choices{{"pcd", "cd"}}},
                    {"rate_bias", SameAs{"rate_weights"}}},
          .trials = {run("trial-01", 0.5, -30), run("trial-02", 0.02, -20), run("trial-03", 1, std::nullopt),
                     run("trial-04", 0.05, -25), run("trial-05", 0.9, -900)},
          .chosen = 1};
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(SearchReport, RanksTrialsFromTheBestToThoseThatFailed) {
  const SearchStudy likelihoods = study(), errors = study("error");
  std::vector<std::string> names;
  for (const StudiedRun* each : ranked(likelihoods)) names.push_back(each->name);
  EXPECT_EQ(names, (std::vector<std::string>{"trial-02", "trial-04", "trial-01", "trial-05", "trial-03"}));
  names.clear();
  for (const StudiedRun* each : ranked(errors)) names.push_back(each->name);
  EXPECT_EQ(names, (std::vector<std::string>{"trial-05", "trial-01", "trial-04", "trial-02", "trial-03"}));
}

TEST(SearchReport, DrawsTheScoreAgainstEveryOptionThatWasDrawnItself) {
  const std::vector<Chart> charts = setting_charts(study());
  ASSERT_EQ(charts.size(), 2U) << "none for the tie";
  const Chart& rates = charts[0];
  EXPECT_TRUE(rates.log_x);
  EXPECT_EQ(rates.series[0].x, (std::vector<double>{0.02, 0.05, 0.5})) << "in order, and without the far and failed";
  EXPECT_EQ(rates.series[0].y, (std::vector<double>{-20, -25, -30}));
  EXPECT_EQ(rates.series[1].x, std::vector<double>{0.02});
  EXPECT_EQ(rates.series[1].y, std::vector<double>{-20});
  EXPECT_TRUE(rates.series[1].marked);
  EXPECT_TRUE(holds(rates.caption, "1 far worse than the others is not shown")) << rates.caption;
  EXPECT_TRUE(holds(rates.caption, "1 failed")) << rates.caption;
  const Chart& gradients = charts[1];
  EXPECT_FALSE(gradients.log_x);
  EXPECT_EQ(gradients.x_label, "gradient, 1: pcd, 2: cd");
  EXPECT_EQ(gradients.series[0].x, (std::vector<double>{1, 1, 2}));
}

TEST(SearchReport, ShowsTheChoiceTheTestsAndWhyTrialsFailed) {
  SearchStudy all = study();
  all.tests = {run("test-02-01", 0.02, -21), run("test-02-02", 0.02, -23)};
  all.tested = summarize_runs(std::vector<double>{-21, -23});
  const std::string page = render_report(search_report(all));
  for (const char* part : {"trial-02", "−22.000", "standard deviation 1.414", "test-02-02", "it diverged",
                           "rate_bias (as rate_weights)", "rate_weights 0.02, gradient pcd"})
    EXPECT_TRUE(holds(page, part)) << part;
  all.chosen.reset();
  all.tested.reset();
  EXPECT_TRUE(setting_charts(all).empty());
  EXPECT_TRUE(holds(render_report(search_report(all)), "failed: it diverged"));
}

TEST(SearchReport, AnErrorIsShownInPercentAndLessIsBetter) {
  const ScoreScale scale = score_scale("error");
  EXPECT_TRUE(scale.lower_is_better);
  EXPECT_EQ(scale.with_unit(0.0312), "3.12 %");
  EXPECT_EQ(scale.difference(0.0031), "0.31 percentage points");
  EXPECT_EQ(score_scale("log_likelihood").with_unit(-98.3141), "−98.314 nats");
  EXPECT_FALSE(score_scale("log_likelihood").lower_is_better);
}

SearchOrder order(double value, std::optional<double> error) {
  return {.better = "PCD", .than = "CD-1", .when = "32 s", .source = "the thesis", .difference = {{value, error}}};
}

TEST(SearchComparison, AnOrderHoldsBeyondTwoStandardErrors) {
  const ScoreScale nats = score_scale("log_likelihood"), error = score_scale("error");
  EXPECT_EQ(order(4.2, 0.3).sentence(nats),
            "PCD is above CD-1 by 4.20 ± 0.30 nats at 32 s: the expected order held (the thesis)");
  EXPECT_EQ(order(-4.2, 0.3).sentence(nats),
            "PCD is below CD-1 by 4.20 ± 0.30 nats at 32 s: the expected order did NOT hold (the thesis)");
  EXPECT_EQ(order(0.59, 0.3).outcome(nats), "too close to tell");
  EXPECT_EQ(order(0.61, 0.3).outcome(nats), "held");
  EXPECT_EQ(order(-0.61, 0.3).outcome(nats), "NOT held");
  EXPECT_EQ(order(0.1, std::nullopt).outcome(nats), "held") << "of single runs there is the sign alone";
  EXPECT_EQ(order(-0.01, 0.001).outcome(error), "held") << "fewer errors are better";
  EXPECT_EQ(order(-0.01, 0.001).sentence(error),
            "PCD is below CD-1 by 1.00 ± 0.10 percentage points at 32 s: the expected order held (the thesis)");
  EXPECT_EQ(order(0.01, 0.001).outcome(error), "NOT held");
  SearchOrder unknown = order(1, 1);
  unknown.difference.reset();
  EXPECT_EQ(unknown.outcome(nats), "not measured");
  EXPECT_EQ(unknown.sentence(nats), "PCD above CD-1 at 32 s (the thesis): not measured");
}

TEST(SearchComparison, DrawsALineWithItsDeviationForEachVariant) {
  SearchComparison comparison{.scale = score_scale("log_likelihood"), .valid = "v", .test = "t"};
  for (const double seconds : {2.0, 8.0})
    comparison.searches.push_back({.variant = "PCD",
                                   .when = "x",
                                   .seconds = seconds,
                                   .tested = summarize_runs(std::vector<double>{-seconds, -seconds - 2})});
  comparison.searches.push_back({.variant = "MF CD", .when = "2 s", .seconds = 2});
  comparison.orders = {order(4.2, 0.3), order(-1, 0.1)};
  const Chart chart = time_chart(comparison);
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_TRUE(chart.log_x);
  EXPECT_EQ(chart.series[0].x, (std::vector<double>{2, 8}));
  EXPECT_EQ(chart.series[0].y, (std::vector<double>{-3, -9}));
  EXPECT_DOUBLE_EQ(chart.series[0].high[0], -3 + std::sqrt(2));
  EXPECT_DOUBLE_EQ(chart.series[0].low[0], -3 - std::sqrt(2));
  EXPECT_TRUE(chart.series[1].x.empty()) << "every run of it failed";
  const std::string page = render_report(search_comparison_report(comparison));
  for (const char* part : {"1 of 2 held", "every run failed", "the expected order did NOT hold"})
    EXPECT_TRUE(holds(page, part)) << part;
}

}  // namespace
}  // namespace harmonium
