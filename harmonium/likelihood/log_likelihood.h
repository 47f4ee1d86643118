// Average log-likelihood of data, given an estimate of log Z.
#pragma once

#include "harmonium/likelihood/estimate.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// log Σ_hidden e^{−E} of each data row (float64), computed in blocks of rows. `data` has the observed layers. Where
// hidden layers are joined to each other: the mean-field bound on it from below.
[[nodiscard]] at::Tensor log_unnormalized(const BoltzmannMachine& machine, const State& data);

// mean over rows of log p(v) = mean log f(v) − log Z. Its interval is that of log Z, turned round; its kind is exact
// when log Z is, and an estimate (high in expectation, because log Ẑ is low) when log Z came from AIS.
[[nodiscard]] Estimate log_likelihood(double mean_log_unnormalized, const Estimate& log_z);

}  // namespace harmonium
