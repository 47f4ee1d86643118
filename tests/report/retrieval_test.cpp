#include "harmonium/report/retrieval.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

RetrievalResult two_curves() {
  return {
      .model = "runs/a",
      .updates = 7,
      .data = "corpus:test",
      .against = "corpus:test",
      .fitted = "corpus",
      .queries = 4,
      .pool = 7,
      .curves = {
          {.name = "code", .numbers = 2, .points = {{1, 0.75, 0.65, 0.85}, {3, 0.5, 0.4, 0.6}, {7, 0.25, 0.2, 0.3}}},
          {.name = "LSA", .numbers = 3, .points = {{1, 0.5, 0.4, 0.6}, {3, 0.4, 0.3, 0.5}, {7, 0.25, 0.2, 0.3}}}}};
}

TEST(RetrievalReport, ShowsCurvesBelowTheWholePool) {
  const Chart chart = retrieval_chart(two_curves(), "curve");
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[0].name, "code (2)");
  EXPECT_EQ(chart.series[0].x, (std::vector<double>{1, 3}));  // of all seven every code finds the same
  EXPECT_EQ(chart.series[1].y, (std::vector<double>{0.5, 0.4}));
  EXPECT_EQ(chart.series[0].low, (std::vector<double>{0.65, 0.4}));
  EXPECT_FALSE(chart.series[0].dashed);
  EXPECT_TRUE(chart.series[1].dashed);
  EXPECT_NE(chart.caption.find("each against the others"), std::string::npos);
}

TEST(RetrievalReport, SetsNumbersInATableAndInText) {
  const Table table = retrieval_table(two_curves(), "table");
  EXPECT_EQ(table.header, (std::vector<std::string>{"retrieved", "code (2)", "LSA (3)"}));
  EXPECT_EQ(table.rows.front(), (std::vector<std::string>{"1", "75.0 ± 10.0", "50.0 ± 10.0"}));
  EXPECT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(retrieval_text(two_curves()),
            "retrieved      code (2)       LSA (3)\n"
            "        1       75.00 %       50.00 %\n"
            "        3       50.00 %       40.00 %\n"
            "        7       25.00 %       25.00 %\n");
}

TEST(RetrievalReport, AddsWhatARunWasAsked) {
  ReportContent content;
  RetrievalResult other = two_curves();
  other.against = "corpus";
  add_retrievals(content, {two_curves(), other});
  ASSERT_EQ(content.headline.size(), 2U);
  EXPECT_EQ(content.headline[0].second, "75.0 %  [65.0, 85.0] %  LSA (3) 50.0 %");
  EXPECT_EQ(content.charts.size(), 2U);
  EXPECT_NE(content.charts[0].id, content.charts[1].id);
  EXPECT_NE(content.charts[1].caption.find("against 7 of corpus"), std::string::npos);
  EXPECT_EQ(content.tables.size(), 2U);
}

}  // namespace
}  // namespace harmonium
