#include "harmonium/report/charts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/report/html.h"
#include "harmonium/report/thinning.h"

namespace harmonium {

namespace {

constexpr std::size_t most_table_rows_per_series = 40;
constexpr std::size_t colours = 7;  // --series-1 … of report.css; further series repeat them

std::size_t colour_of(const Chart& chart, std::size_t i) {
  const int chosen = chart.series[i].colour;
  return (chosen > 0 ? static_cast<std::size_t>(chosen - 1) : i) % colours + 1;
}

std::optional<std::size_t> last_point(const Series& series) {
  for (std::size_t i = series.y.size(); i-- > 0;)
    if (!std::isnan(series.y[i])) return i;
  return std::nullopt;
}

// Ten digits are more than any screen shows and keep the page a third of the size.
nlohmann::json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(format("{:.10g}", value));
}

std::string describe_in_words(const Chart& chart) {
  std::string words = format("Line chart: {}. {} against {}.", chart.title, chart.y_label, chart.x_label);
  for (const Series& series : chart.series) {
    const auto last = last_point(series);
    if (!last) continue;
    const auto is_number = [](double y) { return !std::isnan(y); };
    const double first = *std::find_if(series.y.begin(), series.y.end(), is_number);
    double least = first, greatest = first;
    for (const double y : series.y) {
      least = std::fmin(least, y);
      greatest = std::fmax(greatest, y);
    }
    words += format(" {}: from {} to {}, min {}, max {}.", series.name, short_number(first),
                    short_number(series.y[*last]), short_number(least), short_number(greatest));
  }
  return words;
}

std::string render_legend(const Chart& chart) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const auto last = last_point(series);
    html += format(
        "<li><button type=\"button\" aria-pressed=\"true\" data-series=\"{}\"><span class=\"key s{}{}{}\"></span>"
        "<span class=\"name\">{}</span> <span class=\"last\">{}</span></button></li>",
        i, colour_of(chart, i),
        series.dashed   ? " dashed"
        : series.dotted ? " dotted"
                        : "",
        series.marked     ? " marked"
        : series.unjoined ? " unjoined"
                          : "",
        escape_html(series.name), last ? short_number(series.y[*last]) : "no values");
  }
  return html + "</ul>\n";
}

std::string table_cell(const Series& series, std::size_t i) {
  if (std::isnan(series.y[i])) return "–";
  if (series.low.empty() || std::isnan(series.low[i])) return short_number(series.y[i]);
  return format("{} <span class=\"note\">[{}, {}]</span>", short_number(series.y[i]), short_number(series.low[i]),
                short_number(series.high[i]));
}

// One row per x, one column per series: a few dozen points of each curve, evenly spaced in its points.
std::string render_numbers(const Chart& chart) {
  std::map<double, std::vector<std::string>> rows;
  std::string head;
  bool complete = true;
  for (std::size_t column = 0; column < chart.series.size(); ++column) {
    const Series& series = chart.series[column];
    head += format("<th scope=\"col\" class=\"number\">{}</th>", escape_html(series.name));
    const std::size_t points = series.x.size(), shown = std::min(points, most_table_rows_per_series);
    complete = complete && shown == points;
    for (std::size_t k = 0; k < shown; ++k) {
      const std::size_t i = shown == 1 ? 0 : k * (points - 1) / (shown - 1);
      auto& cells = rows[series.x[i]];
      cells.resize(chart.series.size());
      cells[column] = table_cell(series, i);
    }
  }
  std::string body;
  for (const auto& [x, cells] : rows) {
    body += format("<tr><th scope=\"row\" class=\"number\">{}</th>", short_number(x));
    for (const std::string& cell : cells) body += format("<td class=\"number\">{}</td>", cell);
    body += "</tr>\n";
  }
  return format(
      "<details class=\"numbers\"><summary>{}</summary><div class=\"scroll\"><table>\n<caption class=\"hidden\">{}"
      "</caption><thead><tr><th scope=\"col\" class=\"number\">{}</th>{}</tr></thead>\n<tbody>\n{}</tbody></table>"
      "</div></details>\n",
      complete ? "Numbers" : "Numbers (a selection)", escape_html(chart.title), escape_html(chart.x_label), head, body);
}

}  // namespace

Chart prepare(const Chart& chart) {
  Chart prepared = chart;
  for (Series& series : prepared.series) series = drawable(series, {chart.log_x, chart.log_y});
  return prepared;
}

bool has_points(const Chart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [](const Series& s) { return last_point(s).has_value(); });
}

std::string render_figure(const Chart& chart) {
  std::string html = format("<figure class=\"chart\" id=\"chart-{}\">\n<h3>{}</h3>\n", escape_html(chart.id),
                            escape_html(chart.title));
  if (has_points(chart)) {
    html += render_legend(chart);
    html +=
        format("<p class=\"axis\">{}</p>\n<div class=\"plot\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>\n",
               escape_html(chart.y_label), escape_html(describe_in_words(chart)));
  } else {
    html += "<p class=\"empty\">No finite values to draw.</p>\n";
  }
  if (!chart.caption.empty()) html += format("<figcaption>{}</figcaption>\n", escape_html(chart.caption));
  if (has_points(chart)) html += render_numbers(chart);
  return html + "</figure>\n";
}

nlohmann::json chart_data(const Chart& chart) {
  nlohmann::json all = nlohmann::json::array();
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series series = thin(chart.series[i], most_points_per_series, chart.log_x);
    nlohmann::json one = {{"name", series.name},           {"dashed", series.dashed}, {"dotted", series.dotted},
                          {"colour", colour_of(chart, i)}, {"marked", series.marked}, {"unjoined", series.unjoined}};
    for (const auto& [key, values] :
         {std::pair{"x", &series.x}, {"y", &series.y}, {"low", &series.low}, {"high", &series.high}}) {
      one[key] = nlohmann::json::array();
      for (const double value : *values) one[key].push_back(rounded(value));
    }
    all.push_back(std::move(one));
  }
  return {{"xLabel", chart.x_label}, {"logX", chart.log_x}, {"logY", chart.log_y}, {"series", std::move(all)}};
}

}  // namespace harmonium
