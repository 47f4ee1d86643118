// Makes a curve small enough for a page without changing how it looks.
//
// The axis is cut into equal stretches (equal in log x on a logarithmic axis), each narrower than a pixel of a chart,
// and of each stretch the points with the least and the greatest y survive, and with a band also those with the least
// low and the greatest high: no peak and no dip is lost, and every point shown is one that was measured.
#pragma once

#include <cstddef>

#include "harmonium/report/report.h"

namespace harmonium {

struct Axes {
  bool log_x = false, log_y = false;
};

// Drops points whose x cannot be placed on the axis, and turns values that cannot (not finite, or not positive on a
// logarithmic axis) into NaN, the gap in a curve; several gaps in a row become one.
[[nodiscard]] Series drawable(const Series& series, Axes axes);

// At most `most` points of a drawable series (most >= 8); first and last point always stay.
[[nodiscard]] Series thin(const Series& series, std::size_t most, bool log_x = false);

}  // namespace harmonium
