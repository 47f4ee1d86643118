// Annealed importance sampling of log Z (Neal 2001; Salakhutdinov & Murray 2008) along the geometric path.
//
// Natural parameters interpolate, θ_β = (1−β) θ_0 + β θ, from a base machine without weights, whose log Z_0 is known.
// One block of layers is kept (x), the other summed out in f_β(x) = Σ e^{−E_β}. A chain starts with x_0 ~ p_0 exactly
// and
//   log w = Σ_k [log f_k(x_{k−1}) − log f_{k−1}(x_{k−1})],   x_k by one Gibbs sweep under θ_k,
// so E[w] = Z / Z_0 without bias, and log Z_0 + log mean w is low in expectation. Too few β show as few effective
// samples (not always: a mode no chain has found leaves no trace). Cost: two products with the weights per chain and β.
#pragma once

#include <vector>

#include "harmonium/likelihood/estimate.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct AisOptions {
  std::int64_t chains = 100;
  std::int64_t betas = 10'000;        // number of steps from 0 to 1, evenly spaced
  std::vector<double> schedule = {};  // instead: increasing values, first 0 and last 1
  std::int64_t chains_at_once = 500;  // chains are run in groups of this size, which bounds memory
  std::uint64_t seed = 0;
};

struct AisResult {
  Estimate log_z;
  at::Tensor log_weights;  // chains, float64, log Z_0 included
};

// Base parameters: all weights zero, hidden biases zero, observed layers at the given moments of independent units (one
// list per observed layer, as Unit::moments gives), smoothed.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine,
                                           const std::vector<std::vector<at::Tensor>>& observed_moments,
                                           double smoothing = 1e-3);
// The same where no data are at hand: moments from a short run of Gibbs chains on the machine itself.
[[nodiscard]] Moments base_rate_parameters(const BoltzmannMachine& machine, const Key& key);

[[nodiscard]] AisResult ais(const BoltzmannMachine& machine, const Moments& base, const AisOptions& options,
                            const Progress& progress = {});

}  // namespace harmonium
