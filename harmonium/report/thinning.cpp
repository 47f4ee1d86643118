#include "harmonium/report/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

void check_lengths(const Series& series) {
  const std::size_t n = series.x.size();
  require(series.y.size() == n, "series '{}': {} values of x but {} of y", series.name, n, series.y.size());
  require((series.low.empty() && series.high.empty()) || (series.low.size() == n && series.high.size() == n),
          "series '{}': a band needs {} values of low and of high, not {} and {}", series.name, n, series.low.size(),
          series.high.size());
}

void append(Series& to, const Series& from, std::size_t i) {
  to.x.push_back(from.x[i]);
  to.y.push_back(from.y[i]);
  if (from.low.empty()) return;
  to.low.push_back(from.low[i]);
  to.high.push_back(from.high[i]);
}

Series empty_like(const Series& series) {
  Series copy;
  copy.name = series.name;
  copy.dashed = series.dashed;
  copy.dotted = series.dotted;
  copy.colour = series.colour;
  copy.marked = series.marked;
  copy.unjoined = series.unjoined;
  return copy;
}

// Index of the least (sign = 1) or greatest (sign = −1) finite value in [begin, end); `end` where there is none.
std::size_t extreme(const std::vector<double>& values, std::size_t begin, std::size_t end, double sign) {
  std::size_t best = end;
  for (std::size_t i = begin; i < end; ++i)
    if (std::isfinite(values[i]) && (best == end || sign * values[i] < sign * values[best])) best = i;
  return best;
}

// Which of `stretches` equal parts of the axis each point lies in. A curve that runs back in x (a path in a plane) has
// no such order, and is cut by index instead.
std::vector<std::size_t> stretch_of_points(const std::vector<double>& x, std::size_t stretches, bool log_x) {
  std::vector<std::size_t> stretch(x.size());
  const auto position = [log_x](double value) { return log_x ? std::log(value) : value; };
  const double first = position(x.front()), range = position(x.back()) - first;
  const bool by_axis = range > 0 && std::is_sorted(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double fraction =
        by_axis ? (position(x[i]) - first) / range : static_cast<double>(i) / static_cast<double>(x.size());
    stretch[i] = std::min(stretches - 1, static_cast<std::size_t>(fraction * static_cast<double>(stretches)));
  }
  return stretch;
}

}  // namespace

Series drawable(const Series& series, Axes axes) {
  check_lengths(series);
  const auto place = [](double value, bool logarithmic) {
    return std::isfinite(value) && (!logarithmic || value > 0) ? value : missing_value;
  };
  Series clean = empty_like(series);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (std::isnan(place(series.x[i], axes.log_x))) continue;
    const bool is_gap = std::isnan(place(series.y[i], axes.log_y));
    if (is_gap && !clean.y.empty() && std::isnan(clean.y.back())) continue;
    append(clean, series, i);
    clean.y.back() = place(series.y[i], axes.log_y);
    if (clean.low.empty()) continue;
    // Half a band cannot be drawn: without one end there is neither.
    const double low = place(series.low[i], axes.log_y), high = place(series.high[i], axes.log_y);
    const bool whole = !is_gap && !std::isnan(low) && !std::isnan(high);
    clean.low.back() = whole ? low : missing_value;
    clean.high.back() = whole ? high : missing_value;
  }
  return clean;
}

Series thin(const Series& series, std::size_t most, bool log_x) {
  check_lengths(series);
  require(most >= 8, "thin: a curve needs at least 8 points, not {}", most);
  const std::size_t n = series.x.size();
  if (n <= most) return series;

  const bool band = !series.low.empty();
  const bool gaps = std::any_of(series.y.begin(), series.y.end(), [](double y) { return std::isnan(y); });
  const std::size_t kept_per_stretch = 2 + (band ? 2 : 0) + (gaps ? 1 : 0);
  const std::size_t stretches = std::max<std::size_t>(1, (most - 2) / kept_per_stretch);
  const std::vector<std::size_t> stretch = stretch_of_points(series.x, stretches, log_x);

  std::vector<std::size_t> kept = {0, n - 1};
  for (std::size_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && stretch[end] == stretch[begin]) ++end;
    const auto keep_extreme = [&](const std::vector<double>& values, double sign) {
      if (const std::size_t i = extreme(values, begin, end, sign); i != end) kept.push_back(i);
    };
    keep_extreme(series.y, 1);
    keep_extreme(series.y, -1);
    if (band) keep_extreme(series.low, 1);
    if (band) keep_extreme(series.high, -1);
    const auto first = series.y.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = series.y.begin() + static_cast<std::ptrdiff_t>(end);
    const auto missing = std::find_if(first, last, [](double y) { return std::isnan(y); });
    if (missing != last) kept.push_back(static_cast<std::size_t>(missing - series.y.begin()));
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());

  Series thinned = empty_like(series);
  for (const std::size_t i : kept) append(thinned, series, i);
  return thinned;
}

}  // namespace harmonium
