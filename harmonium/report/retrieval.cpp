#include "harmonium/report/retrieval.h"

#include <algorithm>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

std::string of_pool(const RetrievalResult& result) {
  return result.against == result.data
             ? format("{} documents of {}, each against the others", result.queries, result.data)
             : format("{} documents of {} against {} of {}", result.queries, result.data, result.pool, result.against);
}

std::string with_width(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

}  // namespace

std::string curve_name(const NamedCurve& curve) { return format("{} ({})", curve.name, curve.numbers); }

Chart retrieval_chart(const RetrievalResult& result, const std::string& id) {
  Chart chart;
  chart.id = id;
  chart.title = format("Retrieval, {}", result.data);
  chart.x_label = "documents retrieved";
  chart.y_label = "share of the query's class";
  chart.log_x = true;
  chart.caption = format(
      "{}, ranked by the cosine of codes; the length of the code in brackets. Bands are 95 % intervals of "
      "means over queries. LSA and word weights are computed from {}.",
      of_pool(result), result.fitted);
  for (const NamedCurve& curve : result.curves) {
    Series series{.name = curve_name(curve), .x = {}, .y = {}, .low = {}, .high = {}};
    for (const RetrievalPoint& point : curve.points) {
      if (&point == &curve.points.back() && curve.points.size() > 1) break;  // all documents: the same for every code
      series.x.push_back(static_cast<double>(point.retrieved));
      series.y.push_back(point.precision);
      series.low.push_back(point.low);
      series.high.push_back(point.high);
    }
    series.dashed = !chart.series.empty();
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Table retrieval_table(const RetrievalResult& result, const std::string& id) {
  Table table{
      .id = id,
      .title = format("Precision, {}", result.data),
      .caption = format("Share of the query's class among the nearest documents, in per cent: {}.", of_pool(result)),
      .header = {"retrieved"},
      .rows = {}};
  for (const NamedCurve& curve : result.curves) table.header.push_back(curve_name(curve));
  for (std::size_t i = 0; i < result.curves.front().points.size(); ++i) {
    table.rows.push_back({format("{}", result.curves.front().points[i].retrieved)});
    for (const NamedCurve& curve : result.curves)
      table.rows.back().push_back(format("{:.1f} ± {:.1f}", 100 * curve.points[i].precision,
                                         50 * (curve.points[i].high - curve.points[i].low)));
  }
  return table;
}

std::string retrieval_text(const RetrievalResult& result) {
  std::string text = "retrieved";
  std::vector<std::size_t> widths;
  for (const NamedCurve& curve : result.curves) {
    // A name has no letters of more than one byte.
    widths.push_back(std::max<std::size_t>(curve_name(curve).size(), 12) + 2);
    text += with_width(curve_name(curve), widths.back());
  }
  text += "\n";
  for (std::size_t i = 0; i < result.curves.front().points.size(); ++i) {
    text += with_width(format("{}", result.curves.front().points[i].retrieved), 9);
    for (std::size_t c = 0; c < result.curves.size(); ++c)
      text += with_width(format("{:.2f} %", 100 * result.curves[c].points[i].precision), widths[c]);
    text += "\n";
  }
  return text;
}

void add_retrievals(ReportContent& content, const std::vector<RetrievalResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RetrievalResult& result = results[i];
    std::string others;
    for (std::size_t c = 1; c < result.curves.size(); ++c)
      others += format("{}{} {:.1f} %", c == 1 ? "" : ", ", curve_name(result.curves[c]),
                       100 * result.curves[c].points.front().precision);
    const RetrievalPoint& nearest = result.curves.front().points.front();
    content.headline.emplace_back(format("nearest document of the same class, {}", result.data),
                                  format("{:.1f} %  [{:.1f}, {:.1f}] %  {}", 100 * nearest.precision, 100 * nearest.low,
                                         100 * nearest.high, others));
    content.charts.push_back(retrieval_chart(result, format("retrieval-{}", i + 1)));
    content.tables.push_back(retrieval_table(result, format("retrieval-table-{}", i + 1)));
  }
}

}  // namespace harmonium
