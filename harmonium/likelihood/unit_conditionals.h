// log p(x_i | all other observed units) of one part i of each row: a binary or Gaussian unit, a softmax
// group, whatever part of a layer is free of the others.
//
//   log p(x_i | rest) = log f(x) − log ∫ f(x with part i at t) dt,   f = Σ_hidden e^{−E}
//
// Its mean over parts, times how many there are, is the row's pseudo-log-likelihood. Values a discrete part can take
// are tried one by one. Along a Gaussian unit with precision λ, f is a mixture of normal densities of deviation 1/√λ
// whose means lie where the weights let them; the trapezoidal rule with steps of one deviation has a relative error of
// 2e^{−2π²} ≈ 5e-9 there. Cost: one log f of all rows for each value tried.
#pragma once

#include <functional>

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// log f of rows of visible values (float64), up to a constant.
using LogMass = std::function<at::Tensor(const at::Tensor& visible)>;

// `parts` (rows, int64) numbers the part of each row: columns, or groups of a softmax layer. The layer must be the
// first and without an edge inside; Gaussian units need neighbours with values in [0, 1]. Rows, float64.
[[nodiscard]] at::Tensor unit_conditionals(const BoltzmannMachine& machine, const at::Tensor& visible,
                                           const at::Tensor& parts, const LogMass& log_f);

// How many parts the first layer has.
[[nodiscard]] std::int64_t count_parts(const BoltzmannMachine& machine);

}  // namespace harmonium
