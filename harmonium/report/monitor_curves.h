// The curves of metrics.jsonl that a report shows, with their names and what they mean.
#pragma once

#include <vector>

#include "harmonium/report/report.h"
#include "harmonium/runs/metrics_log.h"

namespace harmonium {

struct MonitorCurve {
  const char *metric, *title, *y_label, *caption;
  bool log_y = false;
};

// In the order of interest to a person who watches a run.
[[nodiscard]] const std::vector<MonitorCurve>& monitor_curves();
// A chart against updates, still without a series.
[[nodiscard]] Chart monitor_chart(const MonitorCurve& curve);
// Empty where the rows do not have the metric.
[[nodiscard]] Series monitor_series(const MonitorCurve& curve, const std::string& name,
                                    const std::vector<MetricsRow>& rows);

// All of them that the rows have values of.
[[nodiscard]] std::vector<Chart> monitor_charts(const std::vector<MetricsRow>& rows);

}  // namespace harmonium
