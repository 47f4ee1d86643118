#include "harmonium/experiments/search_comparison.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/report/html.h"

namespace harmonium {

namespace {

constexpr double enough_errors = 2;

std::string deviation_text(const ScoreScale& scale, const RunsSummary& runs) {
  return runs.deviation ? scale.text(*runs.deviation) : "–";
}

// Columns of the table on the page and on the terminal alike.
std::vector<std::string> row_of(const SearchComparison& comparison, const ComparedSearch& search) {
  const ScoreScale& scale = comparison.scale;
  std::vector<std::string> row = {search.variant, search.when, format("{}", search.updates)};
  if (!search.tested) return row.insert(row.end(), {"–", "–", "–", "every run failed"}), row;
  row.push_back(scale.text(search.tested->mean));
  row.push_back(deviation_text(scale, *search.tested));
  row.push_back(format("[{}, {}]", scale.text(search.tested->low), scale.text(search.tested->high)));
  row.push_back(settings_text(search.chosen));
  return row;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string SearchOrder::outcome(const ScoreScale& scale) const {
  if (!difference) return "not measured";
  const double gain = scale.lower_is_better ? -difference->value : difference->value;
  const double enough = difference->standard_error ? enough_errors * *difference->standard_error : 0;
  if (std::abs(gain) <= enough) return "too close to tell";
  return gain > 0 ? "held" : "NOT held";
}

std::string SearchOrder::sentence(const ScoreScale& scale) const {
  const std::string expected = scale.lower_is_better ? "below" : "above";
  const std::string at = when.empty() ? "" : " at " + when, from = source.empty() ? "" : " (" + source + ")";
  if (!difference) return format("{} {} {}{}{}: not measured", better, expected, than, at, from);
  const std::string result = outcome(scale);
  std::string size = scale.difference(std::abs(difference->value));
  if (difference->standard_error) {
    const std::size_t space = size.find(' ');
    const std::string error = scale.difference(*difference->standard_error);
    size = size.substr(0, space) + " ± " + error.substr(0, error.find(' ')) + size.substr(space);
  }
  const std::string verdict = result == "held"       ? "the expected order held"
                              : result == "NOT held" ? "the expected order did NOT hold"
                                                     : "too close to tell whether the expected order holds";
  return format("{} is {} {} by {}{}: {}{}", better, difference->value > 0 ? "above" : "below", than, size, at, verdict,
                from);
}

Chart time_chart(const SearchComparison& comparison) {
  Chart chart;
  chart.id = "score-against-time";
  chart.title = format("{} of {} against training time", comparison.scale.name, comparison.test);
  chart.x_label = "seconds of training";
  chart.y_label = comparison.scale.axis();
  chart.log_x = true;
  for (const ComparedSearch& search : comparison.searches) {
    auto series = std::ranges::find(chart.series, search.variant, &Series::name);
    if (series == chart.series.end())
      series =
          chart.series.insert(chart.series.end(), {.name = search.variant, .x = {}, .y = {}, .low = {}, .high = {}});
    if (!search.tested) continue;
    const double deviation = search.tested->deviation.value_or(0);
    series->x.push_back(search.seconds);
    series->y.push_back(search.tested->mean);
    series->low.push_back(search.tested->mean - deviation);
    series->high.push_back(search.tested->mean + deviation);
  }
  chart.caption = format(
      "Means over runs with the settings that did best on {}; bands are one standard deviation of a run to either "
      "side.",
      comparison.valid);
  return chart;
}

std::string comparison_text(const SearchComparison& comparison) {
  std::vector<std::vector<std::string>> rows = {
      {"variant", "time", "updates", "mean", "deviation", "95 % of the mean", "chosen settings"}};
  for (const ComparedSearch& search : comparison.searches) rows.push_back(row_of(comparison, search));
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - characters(row[i]), ' ');
      const bool left = i == 0 || i + 1 == row.size();
      line += (i > 0 ? "  " : "") + (left ? row[i] + space : space + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

ReportContent search_comparison_report(const SearchComparison& comparison) {
  ReportContent content;
  content.charts.push_back(time_chart(comparison));
  Table table{.id = "searches",
              .title = format("{} of {}", comparison.scale.name, comparison.test),
              .caption = "Interval of the mean: Student's.",
              .header = {"variant", "time", "updates", "mean", "standard deviation", "95 % of the mean",
                         "chosen settings", "tests", "trials", "failed"},
              .rows = {}};
  for (const ComparedSearch& search : comparison.searches) {
    std::vector<std::string> row = row_of(comparison, search);
    for (std::size_t at = 0; (at = row[0].find(' ')) != std::string::npos;) row[0].replace(at, 1, "\u00a0");
    for (const std::int64_t n : {search.tested ? search.tested->n : 0, search.trials, search.failed})
      row.push_back(format("{}", n));
    table.rows.push_back(std::move(row));
  }
  content.tables.push_back(std::move(table));
  if (!comparison.orders.empty()) {
    Table orders{
        .id = "orders",
        .title = "Comparison with expected values",
        .caption =
            "± is one standard error of the difference, with runs taken as independent; a difference counts if it is larger "
            "than two of them.",
        .header = {"what was found", ""},
        .rows = {}};
    std::int64_t held = 0;
    for (const SearchOrder& order : comparison.orders) {
      orders.rows.push_back({order.sentence(comparison.scale), order.outcome(comparison.scale)});
      held += order.outcome(comparison.scale) == "held";
    }
    content.headline.emplace_back("expected orders", format("{} of {} held", held, comparison.orders.size()));
    content.tables.push_back(std::move(orders));
  }
  content.order = {ReportSection::charts, ReportSection::tables, ReportSection::configuration,
                   ReportSection::reproduce};
  content.footer = format("Settings were chosen by the {} of {}. Seconds count updates only, not measuring and saving.",
                          comparison.scale.name, comparison.valid);
  return content;
}

}  // namespace harmonium
