// A chart on the page: a figure with legend, canvas, caption and the numbers as a table, and the data its script draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harmonium/report/report.h"

namespace harmonium {

inline constexpr std::size_t most_points_per_series = 1000;

// The chart with every series made drawable; what follows takes such a chart.
[[nodiscard]] Chart prepare(const Chart& chart);
[[nodiscard]] bool has_points(const Chart& chart);
// The <figure>; it holds a <canvas> exactly when the chart has points.
[[nodiscard]] std::string render_figure(const Chart& chart);
// What report.js draws: the series thinned.
[[nodiscard]] nlohmann::json chart_data(const Chart& chart);

}  // namespace harmonium
