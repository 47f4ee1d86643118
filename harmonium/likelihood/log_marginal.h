// log f(v) = log Σ_hidden e^{−E} of rows of data: what log p(v) is made of, less log Z.
//
// Hidden layers that share no edge are summed out in closed form. Where they are joined (deep Boltzmann machines) there
// are two ways. States of some hidden layers can be visited one by one and the others summed out: exact, at a cost of
// (rows) × (states) × (units that are summed out). Else mean field (inference/mean_field.h) bounds log f from below, or
// annealing with the data held (row_annealing.h) estimates it from both sides.
#pragma once

#include <optional>
#include <string>

#include "harmonium/inference/mean_field.h"
#include "harmonium/likelihood/estimate.h"
#include "harmonium/likelihood/row_annealing.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct MarginalOptions {
  // Joined hidden layers are visited where that costs no more than so many units; about 1e9 a second. 0: never.
  double most_work = 0;
  MeanFieldOptions mean_field = {};
  std::optional<RowAnnealingOptions> annealing = std::nullopt;  // in place of mean field
  Key key{0};                                                   // of the annealing
};

struct LogMarginal {
  at::Tensor log_f;    // rows, float64
  at::Tensor at_most;  // the same from above, where rows were annealed; else undefined
  bool exact = true;   // else bounds from below
  std::string method = "closed form";
  // Of mean field: sweeps of the slowest rows, and the largest change of a mean in their last one.
  std::int64_t sweeps = 0;
  double change = 0;
  bool converged = true;
};

// `data` has the observed layers; rows are taken in blocks.
[[nodiscard]] LogMarginal log_marginal(const BoltzmannMachine& machine, const State& data,
                                       const MarginalOptions& options = {});

// log f of each row (float64) where it has a closed form, else its bound by mean field as training uses it.
[[nodiscard]] at::Tensor log_unnormalized(const BoltzmannMachine& machine, const State& data);

}  // namespace harmonium
