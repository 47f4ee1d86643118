// Tempered transitions (Neal 1996): a chain climbs from β = 1 to the base and comes back, and the whole excursion is
// one Metropolis proposal.
//
//   x = x₀ → … → x_n = base → … → y₀,   accepted with min(1, Π_i f_{i+1}(x_i)/f_i(x_i) · Π_i f_i(y_i)/f_{i+1}(y_i)),
//
// i counting rungs from the target. Every step is a Gibbs sweep, reversible for its own f, so the proposal leaves the
// target invariant. Needs no crowd of chains at other temperatures, but a finer ladder than parallel tempering: the
// acceptance falls with the length of the way. Cost: 4 (rungs − 1) products with the weights for every row.
#pragma once

#include "harmonium/samplers/tempered_line.h"

namespace harmonium {

struct TemperedTransition {
  at::Tensor log_ratio;   // of every row (float64)
  at::Tensor accepted;    // of every row (bool)
  double acceptance = 0;  // mean of min(1, ratio)
};

// One excursion of every row of `state`, whose kept layers are looked at; afterwards the summed layers are a draw given
// the kept ones under the target, whether accepted or not. `fields`, where wanted, receives the fields of that draw.
TemperedTransition tempered_transition(const TemperedLine& line, const std::vector<double>& ladder, State& state,
                                       const Key& key, Fields* fields = nullptr);

}  // namespace harmonium
