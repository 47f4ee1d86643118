#include "harmonium/report/report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/report/assets.h"
#include "tests/report/sample_content.h"
#include "tests/report/temporary_folder.h"

namespace harmonium {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The page without the scripts and styles it carries, which are not content.
std::string body_of(const std::string& page) {
  const std::size_t start = page.find("<body>"), end = page.find("<script type=\"application/json\"");
  return page.substr(start, end - start);
}

nlohmann::json data_of(const std::string& page) {
  const std::string_view open = "id=\"chart-data\">";
  const std::size_t start = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(start, page.find("</script>", start) - start));
}

TEST(Report, APageHoldsEverySectionInOrder) {
  const std::string page = render_report(testing::sample_content());
  std::size_t at = 0;
  for (const char* part : {"<!DOCTYPE html>",
                           "<title>Centered PCD on MNIST</title>",
                           "<h1>Centered PCD on MNIST</h1>",
                           "784 visible",
                           "Test log-likelihood",
                           "−89.31",
                           "<section id=\"estimates\"",
                           "log-likelihood, train",
                           "<section id=\"curves\"",
                           "id=\"chart-pseudo-likelihood\"",
                           "id=\"chart-gradient-norm\"",
                           "<section id=\"pictures\"",
                           "id=\"gallery-filters\"",
                           "id=\"gallery-digits\"",
                           "<section id=\"configuration\"",
                           "rate_weights = 0.05",
                           "<section id=\"reproduce\"",
                           "harmonium evaluate runs/mnist",
                           "<footer>",
                           "</html>"}) {
    at = page.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " is missing or out of order";
  }
}

TEST(Report, SectionsFollowTheGivenOrderAndEmptyOnesAreLeftOut) {
  ReportContent content = testing::sample_content();
  content.order = {ReportSection::reproduce, ReportSection::charts, ReportSection::estimates};
  content.estimates.clear();
  const std::string body = body_of(render_report(content));
  EXPECT_LT(body.find("<section id=\"reproduce\""), body.find("<section id=\"curves\""));
  EXPECT_FALSE(contains(body, "estimates"));
  EXPECT_FALSE(contains(body, "pictures"));
  EXPECT_EQ(count_of(body, "<section"), 2U);
}

TEST(Report, AnEmptyReportIsStillAPage) {
  const std::string page = render_report({});
  EXPECT_TRUE(contains(page, "</html>"));
  EXPECT_EQ(count_of(body_of(page), "<section"), 0U);
}

TEST(Report, AHeadlineKeepsIntervalAndKindWithItsFigure) {
  ReportContent content;
  content.headline = {{"Likelihood", "−21.3 nats  [−21.5, −21.1]  exact"}, {"Size", "784 × 500"}};
  const std::string body = body_of(render_report(content));
  EXPECT_TRUE(contains(body,
                       "<span class=\"figure\">−21.3 <span class=\"unit\">nats</span></span> <span class=\"detail\">"
                       "[−21.5, −21.1]</span> <span class=\"detail\">exact</span>"));
  EXPECT_TRUE(contains(body, "<span class=\"figure\">784 × 500</span>"));
}

TEST(Report, NothingGivenCanBecomeMarkup) {
  const std::string evil = "</script></style><img src=x onerror=alert(1)>'\"{{chart_js}}";
  ReportContent content;
  content.title = content.subtitle = content.configuration = content.footer = evil;
  content.headline = {{evil, evil}};
  content.reproduce = {evil};
  content.charts = {{evil, evil, evil, evil, false, false, {{evil, {1, 2}, {1, 2}, {}, {}, false}}, evil}};
  content.galleries = {{evil, evil, evil, tile_images(at::zeros({1, 4}), {2, 2})}};
  content.estimates = {{evil, {0, -1, 1, EstimateKind::estimate, evil, 0, 0, std::nullopt}, evil}};
  const std::string page = render_report(content);
  EXPECT_FALSE(contains(page, "<img src=x"));
  EXPECT_FALSE(contains(page, "</script></style>"));
  // As many scripts as the template has: nothing opened or closed another.
  const std::string_view layout = assets::report_html();
  EXPECT_EQ(count_of(page, "</script>"), count_of(layout, "</script>"));
  EXPECT_EQ(count_of(page, "</style>"), count_of(layout, "</style>"));
  // A place named in the content stays text: the library is in the page once.
  EXPECT_EQ(count_of(page, assets::chart_js()), 1U);
  EXPECT_EQ(data_of(page)[0]["series"][0]["name"], evil);
}

TEST(Report, ItAsksForNothingFromOutside) {
  const std::string page = render_report(testing::sample_content());
  EXPECT_TRUE(contains(page, "Content-Security-Policy\" content=\"default-src 'none'; img-src data:;"));
  for (const char* request : {"src=\"http", "href=\"http", "src=\"//", "@import", "url(", "sourceMappingURL"})
    EXPECT_FALSE(contains(page, request)) << request;
}

TEST(Report, EmbeddedAssetsAreWholeAndCannotEndTheirOwnTags) {
  EXPECT_TRUE(contains(assets::chart_js().substr(0, 200), "Chart.js v3"));
  EXPECT_GT(assets::chart_js().size(), 100000U);
  EXPECT_FALSE(contains(assets::chart_js(), "</script"));
  EXPECT_FALSE(contains(assets::report_js(), "</script"));
  EXPECT_FALSE(contains(assets::report_css(), "</style"));
}

TEST(Report, ChartDataHaveGapsWhereValuesAreNotFinite) {
  ReportContent content;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  content.charts = {
      {"a", "A", "x", "y", false, false, {{"s", {1, 2, 3, 4}, {0.5, nan, 2, -infinity}, {}, {}, true}}, ""}};
  const nlohmann::json series = data_of(render_report(content))[0]["series"][0];
  EXPECT_EQ(series["x"], (nlohmann::json{1.0, 2.0, 3.0, 4.0}));
  EXPECT_EQ(series["y"], (nlohmann::json{0.5, nullptr, 2.0, nullptr}));
  EXPECT_EQ(series["dashed"], true);
}

TEST(Report, ALongCurveReachesThePageThin) {
  ReportContent content;
  content.charts = {{"a", "A", "x", "y", false, false, {testing::noisy_curve("long", 1, 100000, 5, 0, 1)}, ""}};
  const std::string page = render_report(content);
  const nlohmann::json series = data_of(page)[0]["series"][0];
  EXPECT_LE(series["x"].size(), 1000U);
  EXPECT_GE(series["x"].size(), 500U);
  EXPECT_LE(count_of(body_of(page), "<tr>"), 41U);
}

TEST(Report, CurvesOfTheSameUpdatesShareTheRowsOfTheTable) {
  ReportContent content;
  content.charts = {{"a",
                     "A",
                     "x",
                     "y",
                     false,
                     false,
                     {testing::noisy_curve("train", 1, 5000, 5, 0, 1), testing::noisy_curve("valid", 2, 5000, 5, 0, 1)},
                     ""}};
  const std::string body = body_of(render_report(content));
  EXPECT_EQ(count_of(body, "<th scope=\"row\""), 40U);
  EXPECT_EQ(count_of(body, "<td class=\"number\"></td>"), 0U);
}

TEST(Report, AChartWithNothingToDrawSaysSoAndHasNoCanvas) {
  ReportContent content = testing::sample_content();
  content.charts.insert(content.charts.begin(),
                        {"none", "None", "x", "y", false, false, {{"s", {}, {}, {}, {}, false}}, ""});
  const std::string page = render_report(content);
  EXPECT_TRUE(contains(page, "No finite values to draw."));
  // The data stay in step with the canvases.
  EXPECT_EQ(count_of(body_of(page), "<canvas"), 3U);
  EXPECT_EQ(data_of(page).size(), 3U);
}

TEST(Report, EveryChartHasItsNumbersAsATableAndInWords) {
  ReportContent content;
  content.charts = {
      {"a",
       "Energy",
       "update",
       "nats",
       false,
       false,
       {{"train", {1, 2, 3}, {-5, -7.25, -6}, {-6, -8, -7}, {-4, -6, -5}, false}, {"valid", {2}, {9}, {}, {}, false}},
       ""}};
  const std::string body = body_of(render_report(content));
  EXPECT_TRUE(contains(body,
                       "aria-label=\"Line chart: Energy. nats against update. train: from −5 to −6, min −7.25, "
                       "max −5. valid: from 9 to 9, min 9, max 9.\""));
  EXPECT_TRUE(
      contains(body, "<th scope=\"col\" class=\"number\">update</th><th scope=\"col\" class=\"number\">train</th>"));
  EXPECT_TRUE(contains(body,
                       "<th scope=\"row\" class=\"number\">2</th><td class=\"number\">−7.25 <span class=\"note\">"
                       "[−8, −6]</span></td><td class=\"number\">9</td>"));
}

TEST(Report, EveryPictureHasAnAlternativeTextAndItsSize) {
  const std::string body = body_of(render_report(testing::sample_content()));
  EXPECT_EQ(count_of(body, "<img "), 3U);
  EXPECT_EQ(count_of(body, "alt=\"Filters. Weights of 40 hidden units"), 1U);
  EXPECT_EQ(count_of(body, "alt=\"\""), 0U);
  EXPECT_TRUE(contains(body, "width=\"466\" height=\"292\""));
}

TEST(Report, SeriesThatDoNotFitTogetherAreRefusedAndNoFileIsLeft) {
  const testing::TemporaryFolder folder;
  ReportContent content;
  content.charts = {{"a", "A", "x", "y", false, false, {{"s", {1, 2}, {1}, {}, {}, false}}, ""}};
  EXPECT_THROW(write_report(folder / "report.html", content), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html"));
}

TEST(Report, TheWrittenFileIsTheRenderedPage) {
  const testing::TemporaryFolder folder;
  const ReportContent content = testing::sample_content();
  write_report(folder / "report.html", content);
  EXPECT_EQ(read_file(folder / "report.html"), render_report(content));
}

}  // namespace
}  // namespace harmonium
