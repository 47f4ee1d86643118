// The parameters under which independent rows of a layer have given moments, for units that have no formula for it.
//
// An exponential family: with A(θ) the log-partition of a layer whose field is its bias, θ minimizes A(θ) − θ·moments,
// which is convex. Newton's method in float64, with steps halved until they stay in the domain and go down. Where no
// parameters have these moments, it ends at the edge of the domain.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

// Which statistics depend on each other: those of one column, or all of a layer.
enum class Columns { independent, linked };

// Moments are first mixed with those of the neutral parameters: (1 − smoothing)·moments + smoothing·neutral ones.
[[nodiscard]] Unit::Parameters match_moments(const Unit& unit, const std::vector<at::Tensor>& moments, double smoothing,
                                             Columns columns);

}  // namespace harmonium
