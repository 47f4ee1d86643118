// Wang–Landau sampling (Wang & Landau 2001): the number of states at every level of log f, and from it log Z.
//
// x are the layers of a block of discrete units, f(x) = Σ e^{−E} over the other block. Bins of log f have a density of
// states n(bin). Chains change one unit at a time and go from a bin to another with min(1, n(bin)/n(bin')) under the
// present estimate, which is raised wherever they are ("aversion"), by ever smaller amounts: the amount halves whenever
// all bins seen so far have been visited about equally often. A last run under the estimate held fixed counts visits,
// which corrects what the aversion has left (so that its last amount matters little) and gives the standard error:
//
//   Z = Σ_bins n(bin) · mean of f in the bin,   Σ_bins n(bin) = number of all x.
//
// All rows are chains that share one estimate; a step raises it by `update` in all, each row a share of 1/rows. Cost of
// a step and row: one row of the weights and one log-partition of the summed layers (fields follow changes by rank-one
// updates), so that steps are cheap; but the number of steps needed grows with the square of the range of log f, which
// limits the method to machines of some tens of units.
#pragma once

#include <functional>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct WangLandauOptions {
  std::int64_t rows = 500;
  double bin_width = 0.5;                       // nats of log f
  double first_update = 1, last_update = 1e-3;  // of log n, by all rows together in a step
  double flatness = 0.8;                        // least visits of a bin in units of the mean
  std::int64_t check_every = 100;               // steps between looks at the flatness
  std::int64_t most_steps = 200'000;            // before the last run, flat or not
  std::int64_t last_steps = 10'000;             // of the run under fixed weights
  // Told now and then how many steps are done of how many at most; may throw to stop.
  std::function<void(std::int64_t, std::int64_t)> progress = {};
};

struct DensityOfStates {
  at::Tensor level;       // centre of every bin that was visited, rising (float64)
  at::Tensor log_states;  // log of the number of states in it
  at::Tensor log_mean;    // log of the mean of f over them
  double log_z = 0, standard_error = 0;
  bool flat = true;  // false: most_steps came before last_update, and the standard error may be too small
  std::int64_t steps = 0;
};

// The block that is kept is the first whose layers all have finitely many states.
[[nodiscard]] DensityOfStates wang_landau(const BoltzmannMachine& machine, const Key& key,
                                          const WangLandauOptions& options = {});

}  // namespace harmonium
