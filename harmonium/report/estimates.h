// Estimates as a reader should meet them: value, 95 % interval, kind and method, never one without the others.
#pragma once

#include <string>
#include <vector>

#include "harmonium/report/report.h"

namespace harmonium {

struct EstimateText {
  std::string value, interval, kind, method;  // "−21.30", "[−21.52, −21.08]", "estimate", "ais, 100 chains × …"
};

// Digits follow the interval (two significant ones of its half width), and its ends are rounded outwards.
[[nodiscard]] EstimateText describe(const Estimate& estimate);

// The table, and under it what the kinds that occur in it mean.
[[nodiscard]] std::string render_estimates(const std::vector<EstimateRow>& rows);

}  // namespace harmonium
