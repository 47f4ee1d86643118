// Annealed importance sampling of log Z (Neal 2001; Salakhutdinov & Murray 2008), and the same backwards.
//
// Forward: a chain starts with x_0 drawn from the base and walks up the path (annealing.h). E[w] = Z / Z_0 without
// bias, so log Z_0 + log mean w is low in expectation. Too few steps show as few effective samples (not always: a mode
// that no chain has found leaves no trace).
//
// Backward: a chain starts with x_K drawn from the target and walks down. E[w] = Z_0 / Z, so log Z_0 − log mean w is
// high in expectation: an upper bound on log Z as far as the first states are draws of the target.
#pragma once

#include "harmonium/likelihood/annealing.h"
#include "harmonium/likelihood/estimate.h"

namespace harmonium {

struct AisResult {
  Estimate log_z;
  at::Tensor log_weights;  // chains, float64, log Z_0 included: what each chain alone says log Z is
};

[[nodiscard]] AisResult ais(const AnnealingPath& path, std::int64_t chains, const AnnealingOptions& options);

// `samples` holds a draw of the target in every row; the kept layers are looked at.
[[nodiscard]] AisResult reverse_ais(const AnnealingPath& path, const State& samples, const AnnealingOptions& options);

// The mean over chains of what each says alone: another bound from above, looser than the log of their mean (by about
// half the variance of their log-weights), but one that a few rare chains cannot pull down. Where most draws of the
// model lie in a mode that the base does not reach, the log of the mean hangs on the few draws that do not.
[[nodiscard]] Estimate average_bound(const AisResult& reverse, std::uint64_t seed);

// In one call, along the geometric path from a base without weights (or one that can be enumerated).
struct AisOptions {
  std::int64_t chains = 100;
  std::int64_t betas = 10'000;        // number of steps from 0 to 1, evenly spaced
  std::vector<double> schedule = {};  // instead: increasing values, first 0 and last 1
  std::int64_t chains_at_once = 500;  // chains are run in groups of this size, which bounds memory
  std::uint64_t seed = 0;
};
[[nodiscard]] AisResult ais(const BoltzmannMachine& machine, const Moments& base, const AisOptions& options,
                            const Progress& progress = {});

}  // namespace harmonium
