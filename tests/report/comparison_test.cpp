#include "harmonium/report/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harmonium/core/format.h"
#include "tests/report/temporary_folder.h"

namespace harmonium {
namespace {

Evaluation judged(std::int64_t updates, double value, const std::string& data = "digits:test", std::int64_t n = 300,
                  const std::string& binarization = "none") {
  Evaluation evaluation;
  evaluation.model = "run";
  evaluation.updates = updates;
  evaluation.seconds = static_cast<double>(updates) / 100;
  evaluation.data = data;
  evaluation.n = n;
  evaluation.binarization = binarization;
  evaluation.log_z = Estimate{.method = "ais", .effective_samples = std::nullopt};
  evaluation.log_likelihood = Estimate{
      .value = value, .low = value - 0.1, .high = value + 0.2, .method = "ais", .effective_samples = std::nullopt};
  return evaluation;
}

ComparedRun run_of(const std::string& name, std::vector<Evaluation> evaluations) {
  ComparedRun run;
  run.name = run.folder = name;
  run.evaluations = std::move(evaluations);
  run.metrics = {{.update = 0, .seconds = 0, .values = {{"pseudo_log_likelihood", -9}, {"gradient_norm", 1}}},
                 {.update = 10, .seconds = 1, .values = {{"pseudo_log_likelihood", -8}, {"gradient_norm", 2}}}};
  run.watched = "digits";
  run.judge_command = "harmonium evaluate " + name;
  return run;
}

std::vector<std::string> names_of(const Chart& chart) {
  std::vector<std::string> names;
  for (const Series& series : chart.series) names.push_back(series.name);
  return names;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Comparison, DrawsOneSeriesPerRunAndPartAgainstUpdatesAndSeconds) {
  const std::vector<Chart> charts =
      likelihood_charts({run_of("a", {judged(100, -30), judged(300, -20), judged(100, -31, "digits:train", 1000)}),
                         run_of("b", {judged(100, -29)})});
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(names_of(charts[0]), (std::vector<std::string>{"a, test", "a, train", "b, test"}));
  const Series& test = charts[0].series[0];
  EXPECT_EQ(test.x, (std::vector<double>{100, 300}));
  EXPECT_EQ(test.y, (std::vector<double>{-30, -20}));
  EXPECT_EQ(test.low, (std::vector<double>{-30.1, -20.1}));
  EXPECT_EQ(test.high, (std::vector<double>{-29.8, -19.8}));
  EXPECT_EQ(charts[1].series[0].x, (std::vector<double>{1, 3}));
  EXPECT_TRUE(charts[0].log_x && charts[1].log_x);
  EXPECT_FALSE(test.dashed);
  EXPECT_TRUE(charts[0].series[1].dashed);
  EXPECT_EQ(test.colour, charts[0].series[1].colour) << "one colour for one run";
  EXPECT_NE(test.colour, charts[0].series[2].colour);
}

TEST(Comparison, DrawsTestAndValidationDataOfOneRunDifferently) {
  const std::vector<Chart> charts = likelihood_charts(
      {run_of("a", {judged(100, -30, "shapes.mat:test_data"), judged(100, -31, "shapes.mat:val_data")}),
       run_of("b", {judged(100, -29, "shapes.mat:test_data"), judged(100, -30, "shapes.mat:val_data")})});
  ASSERT_EQ(names_of(charts[0]),
            (std::vector<std::string>{"a, test_data", "a, val_data", "b, test_data", "b, val_data"}));
  for (const std::size_t run : {0U, 2U}) {
    const Series &test = charts[0].series[run], &valid = charts[0].series[run + 1];
    EXPECT_EQ(test.colour, valid.colour);
    EXPECT_FALSE(test.dotted || test.dashed || valid.dashed);
    EXPECT_TRUE(valid.dotted);
  }
}

TEST(Comparison, ShowsABracketForWhatIsNotTrusted) {
  Evaluation doubtful = judged(100, -30);
  doubtful.log_z->kind = EstimateKind::unbiased_estimate;
  doubtful.upper_log_z =
      Estimate{.value = 36, .low = 35.9, .high = 36.1, .kind = EstimateKind::upper_bound, .method = "raise"};
  doubtful.gap = 36;
  const std::vector<ComparedRun> runs = {run_of("a", {doubtful, judged(300, -20)})};
  const Chart chart = likelihood_charts(runs)[0];
  EXPECT_EQ(chart.series[0].low, (std::vector<double>{-66, -20.1}));
  EXPECT_EQ(chart.series[0].high, (std::vector<double>{-30, -19.8}));
  EXPECT_TRUE(holds(chart.caption, "1 of 2 numbers are not trusted"));
  const ReportContent page = comparison_report(
      runs, {{.run = "a", .data = "digits:test", .updates = 100, .value = -30, .tolerance = 1, .source = "x"}});
  EXPECT_TRUE(
      holds(page.headline[0].second, "between −66.0 and −30.0 nats  not trusted: AIS and RAISE differ by 36 nats"));
  EXPECT_TRUE(holds(render_report(page), "between −66.0 and −30.0 nats"));
}

TEST(Comparison, NeverPutsTwoBinarizationsOrTwoNumbersOfRowsInOneChart) {
  for (const Evaluation& other :
       {judged(100, -29, "digits:test", 300, "threshold"), judged(100, -29, "digits:test", 20)}) {
    const std::vector<Chart> charts = likelihood_charts({run_of("a", {judged(100, -30)}), run_of("b", {other})});
    ASSERT_EQ(charts.size(), 4U);
    EXPECT_EQ(names_of(charts[0]), (std::vector<std::string>{"a, test"}));
    EXPECT_EQ(names_of(charts[2]), (std::vector<std::string>{"b, test"}));
    EXPECT_NE(charts[0].title, charts[2].title);
    for (const Chart& chart : charts) EXPECT_TRUE(holds(chart.caption, "cannot be compared")) << chart.caption;
  }
  const std::vector<Chart> alone = likelihood_charts({run_of("a", {judged(100, -30)})});
  EXPECT_FALSE(holds(alone[0].caption, "cannot be compared")) << "there is nothing to warn of";
}

TEST(Comparison, LaysDrawsFromDifferentSeedsOverEachOtherAsSeriesOfTheirOwn) {
  const std::vector<Chart> charts =
      likelihood_charts({run_of("a", {judged(100, -30, "digits:test", 300, "stochastic (seed 0)"),
                                      judged(100, -30.1, "digits:test", 300, "stochastic (seeds 0–4)")}),
                         run_of("b", {judged(100, -29, "digits:test", 300, "stochastic (seed 0)")})});
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(names_of(charts[0]),
            (std::vector<std::string>{"a, test, seed 0", "a, test, seeds 0–4", "b, test, seed 0"}));
  EXPECT_TRUE(holds(charts[0].caption, "different seeds")) << charts[0].caption;
}

TEST(Comparison, KeepsDataSetsApart) {
  const std::vector<Chart> charts =
      likelihood_charts({run_of("a", {judged(100, -30)}), run_of("b", {judged(100, -90, "mnist:test")})});
  ASSERT_EQ(charts.size(), 4U);
  EXPECT_TRUE(holds(charts[0].title, "digits"));
  EXPECT_TRUE(holds(charts[2].title, "mnist"));
}

TEST(Comparison, ShowsMetricsThatAllRunsHaveAndOnlyWhereTheyWatchTheSame) {
  ComparedRun one = run_of("a", {}), other = run_of("b", {});
  for (MetricsRow& row : other.metrics) row.values.erase("gradient_norm");
  const ReportContent shared = comparison_report({one, other});
  ASSERT_EQ(shared.charts.size(), 1U);
  EXPECT_EQ(shared.charts[0].id, "pseudo_log_likelihood");
  EXPECT_EQ(names_of(shared.charts[0]), (std::vector<std::string>{"a", "b"}));
  other.watched = "mnist";
  EXPECT_TRUE(comparison_report({one, other}).charts.empty());
}

TEST(Comparison, ListsRunsWithoutLikelihoodsWithTheCommandThatJudgesThem) {
  const ReportContent content = comparison_report({run_of("a", {judged(100, -30)}), run_of("b", {})});
  EXPECT_NE(std::ranges::find(content.reproduce, "harmonium evaluate b"), content.reproduce.end());
  EXPECT_EQ(std::ranges::find(content.reproduce, "harmonium evaluate a"), content.reproduce.end());
}

TEST(Comparison, HoldsRunsAgainstWhatIsExpectedOfThemAndNeverHidesAMiss) {
  const std::vector<ComparedRun> runs = {run_of("a", {judged(100, -30), judged(300, -20)})};
  const std::vector<Expectation> expected = {{"a", "digits:test", 100, -30.5, 0.7, "a paper"},
                                             {"a", "digits:test", 300, -21, 0.7, "a paper"},
                                             {"a", "digits:test", 1000, -15, 0.7, "a paper"}};
  const std::vector<Verdict> all = verdicts(runs, expected);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].met());
  EXPECT_NEAR(all[0].difference(), 0.5, 1e-12);
  EXPECT_FALSE(all[1].met());
  EXPECT_FALSE(all[2].met());
  EXPECT_TRUE(holds(all[0].sentence(), "within tolerance")) << all[0].sentence();
  EXPECT_TRUE(holds(all[1].sentence(), "MISSED")) << all[1].sentence();
  EXPECT_TRUE(holds(all[1].sentence(), "+1.00")) << all[1].sentence();
  EXPECT_TRUE(holds(all[2].sentence(), "not measured")) << all[2].sentence();

  const ReportContent content = comparison_report(runs, expected);
  ASSERT_EQ(content.headline.size(), 3U);
  EXPECT_TRUE(holds(content.headline[1].second, "MISSED")) << content.headline[1].second;
  const Series& curve = content.charts[0].series.back();
  EXPECT_EQ(curve.name, "test, expected");
  EXPECT_TRUE(curve.dashed && curve.marked);
  EXPECT_EQ(curve.x, (std::vector<double>{100, 300, 1000}));
  EXPECT_EQ(content.charts[1].series.size(), 1U) << "nobody expects seconds";
}

TEST(Comparison, TakesTheExactAnswerOfTwoAndPlacesTheFinalModelOfAnOldRun) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder / "run";
  std::filesystem::create_directory(path);
  Evaluation exact = judged(0, -20), annealed = judged(0, -19);
  exact.log_z->kind = EstimateKind::exact;
  exact.log_z->method = "exact";
  record_evaluations(path, {exact, annealed});
  MetricsLog(path / "metrics.jsonl").append({.update = 500, .seconds = 2.5, .values = {}});
  const ComparedRun run = compared_run(path, "run");
  ASSERT_EQ(run.evaluations.size(), 1U);
  EXPECT_EQ(run.evaluations[0].log_likelihood->value, -20);
  EXPECT_EQ(run.evaluations[0].updates, 500);
  EXPECT_EQ(run.evaluations[0].seconds, 2.5);
}

TEST(Comparison, MakesAPageWithColoursThatBelongToRuns) {
  const std::string page = render_report(comparison_report(
      {run_of("a", {judged(100, -30), judged(100, -31, "digits:train", 1000)}), run_of("b", {judged(100, -29)})},
      {{"b", "digits:test", 100, -29, 0.5, ""}}));
  for (const char* part : {"\"key s1\"", "\"key s1 dashed\"", "\"key s2\"", "\"key s2 dashed marked\""})
    EXPECT_TRUE(holds(page, part)) << part;
}

}  // namespace
}  // namespace harmonium
