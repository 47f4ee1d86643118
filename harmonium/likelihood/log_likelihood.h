// Average log-likelihood of data, given an estimate of log Z.
#pragma once

#include "harmonium/likelihood/estimate.h"
#include "harmonium/likelihood/log_marginal.h"  // IWYU pragma: export

namespace harmonium {

// mean over rows of log p(v) = mean log f(v) − log Z. Its interval is that of log Z, turned round; its kind is exact
// when log Z is, and an estimate (high in expectation, because log Ẑ is low) when log Z came from AIS. Where log f is a
// bound from below (mean field), so is the result if log Z is exact or bounded from above; else it estimates a bound.
[[nodiscard]] Estimate log_likelihood(double mean_log_f, const Estimate& log_z, bool log_f_exact = true);

}  // namespace harmonium
