// Learning rates of an RBM on word counts by the size of its hidden layer, where none are given.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "harmonium/families/run_config.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

// `hidden` is a number of units or a unit type. Hidden units pull at the same words together: 500 of them at the rate
// of 50 drove 20 Newsgroups apart within 600 updates. Gaussian ones know no bounds, and diverge at the rate of binary
// ones.
[[nodiscard]] inline Rates counts_rates(double mean_length, const std::string& hidden) {
  constexpr double few_units = 50;
  const std::shared_ptr<const Unit> unit = make_unit(hidden_spec(hidden));
  const auto units = static_cast<double>(unit->width() / unit->digit().columns);
  const double share = few_units / std::max(few_units, units) * (unit->support() == Unit::Support::reals ? 0.05 : 1);
  const Rates rates = counts_rates(mean_length);
  return {.bias = rates.bias * share, .weights = rates.weights * share};
}

}  // namespace harmonium
