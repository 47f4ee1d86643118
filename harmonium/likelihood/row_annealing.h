// log f(v) = log Σ_hidden e^{−E(v, hidden)} of rows of data by annealed importance sampling over the hidden layers with
// the data held, for machines whose hidden units are joined to each other (deep and general Boltzmann machines).
//
// The path starts at the mean-field product of the row, with fields l, and ends at the machine with v held:
//   −E_β(h) = Σ_layers h·[(1−β) l + β (b + what v adds)] + β Σ_{edges among hidden layers} hᵀ W h′,
// one hidden block S being summed out in closed form at every β, f_β(h_rest) = Σ_{h_S} e^{−E_β} (layers with an edge
// inside cannot be: they are walked, unit by unit, and S may be empty). At β = 0 the sum over all states is known: Π of
// the units' partition functions under l. A chain starts at a draw of the product; a step from β to β′ adds
// log f_β′ − log f_β at its state and makes a Gibbs sweep at β′.
//
// Upward: E[w] = f(v), so log of the mean over M chains is below log f(v) in expectation, and nears it as M or the
// number of β grows. Downward, from draws of the posterior (a sweep at β, then log f_β − log f_β′ at the new state):
// the mean of the totals is above log f(v) in expectation, as far as the draws at the start are posterior draws. They
// come from `posterior_sweeps` Gibbs sweeps that start at the mean-field product. Where hidden layers share no weight
// both are exact. Cost: (rows) × chains × β × two products with every matrix between hidden layers.
#pragma once

#include <cstdint>

#include "harmonium/inference/mean_field.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct RowAnnealingOptions {
  std::int64_t chains = 8;              // for every row
  std::int64_t betas = 1000;            // steps from the mean-field product to the machine
  std::int64_t posterior_sweeps = 300;  // before a downward walk
  MeanFieldOptions mean_field = {.most_sweeps = 200};
  Progress progress = {};  // told after every step; throws to stop
};

struct AnnealedRows {
  at::Tensor log_f;      // rows, float64: by the upward walk, below log f(v) in expectation
  at::Tensor at_most;    // rows, float64: by the downward walk, above it in expectation; undefined where not asked for
  double effective = 0;  // effective chains of the upward walk, the mean over rows
};

// `data` has the observed layers. Hidden layers must be binary or softmax.
[[nodiscard]] AnnealedRows anneal_rows(const BoltzmannMachine& machine, const State& data, const Key& key,
                                       const RowAnnealingOptions& options = {}, bool both_ways = false);

}  // namespace harmonium
