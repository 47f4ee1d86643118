// Approximate inference for machines whose hidden units are joined to each other: a factorized distribution q over
// hidden units, as near to p(hidden | data) as such a one can be.
//
// Coordinate ascent on  L(q) = E_q[−E] + H(q) ≤ log Σ_hidden e^{−E},  with equality where hidden layers share no edge.
// Layers that share none are set together, block after block, each to its best given the others; units of a layer with
// an edge inside are set one after another (kernels/site_means.h). So L never falls. It does not with damping either:
// given the others, L is −KL(q_unit ‖ its best) and a constant, and KL falls all along the straight line of natural
// parameters from the old field to the best one. Cost of a sweep: two products with every matrix of weights.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct MeanFieldOptions {
  std::int64_t most_sweeps = 50;
  double tolerance = 1e-4;  // stop when no mean moves by more
  double damping = 0;       // share of the old field that is kept
};

struct Posterior {
  State means;    // E_q of every layer; observed ones as given
  Fields fields;  // of hidden layers: what their means are the means of
  std::int64_t sweeps = 0;
  double change = 0;  // of the last sweep, the largest of any mean

  [[nodiscard]] bool converged(const MeanFieldOptions& options) const { return change <= options.tolerance; }
};

// `data` has the observed layers.
[[nodiscard]] Posterior infer(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options = {});

// Means of a layer given values or means of all others in `others`: in closed form, or by mean field where its units
// are joined to each other. The layer's own entry is not looked at.
[[nodiscard]] at::Tensor means_given_others(const BoltzmannMachine& machine, std::size_t layer, const State& others,
                                            const MeanFieldOptions& options = {});

// L(q) of each row, float64: log p(row) ≥ L(q) − log Z.
[[nodiscard]] at::Tensor variational_bound(const BoltzmannMachine& machine, const Posterior& posterior);

}  // namespace harmonium
