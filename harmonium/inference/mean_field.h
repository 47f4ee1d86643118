// Approximate inference for machines whose hidden layers are joined to each other: a factorized distribution q over
// hidden units, as near to p(hidden | data) as such a one can be.
//
// Coordinate ascent on  L(q) = E_q[−E] + H(q) ≤ log Σ_hidden e^{−E},  with equality where hidden layers share no edge.
// Layers that share none are set together, block after block, each to its best given the others, so that L never falls.
// Cost of a sweep: two products with every matrix of weights.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct MeanFieldOptions {
  std::int64_t most_sweeps = 50;
  double tolerance = 1e-4;  // stop when no mean moves by more
  double damping = 0;       // share of the old field that is kept; L may then fall on the way, and oscillations die
};

struct Posterior {
  State means;    // E_q of every layer; observed ones as given
  Fields fields;  // of hidden layers: what their means are the means of
  std::int64_t sweeps = 0;
  double change = 0;  // of the last sweep, the largest of any mean

  [[nodiscard]] bool converged(const MeanFieldOptions& options) const { return change <= options.tolerance; }
};

// `data` has the observed layers. Hidden layers with an edge inside are refused.
[[nodiscard]] Posterior infer(const BoltzmannMachine& machine, const State& data, const MeanFieldOptions& options = {});

// L(q) of each row, float64: log p(row) ≥ L(q) − log Z.
[[nodiscard]] at::Tensor variational_bound(const BoltzmannMachine& machine, const Posterior& posterior);

}  // namespace harmonium
