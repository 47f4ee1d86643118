// How many independent samples a correlated series is worth.
//
// τ = 1 + 2 Σ_k ρ_k, the integrated autocorrelation time in steps: an average over n of them has the variance of one
// over n/τ independent ones. Autocorrelations ρ are taken about the mean of all chains together, so chains that stay in
// different places make τ long and do not go unnoticed. The sum ends by Geyer's initial monotone sequence (1992): sums
// of two neighbouring ρ are positive and fall for a reversible chain; the first that is not positive is noise, and none
// may exceed the one before. Cost: chains × length × τ.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

// `series`: chains × steps of some scalar (log f, the overlap with a pattern, …), burn-in left out. At least 1; a
// series that never changes has no time of its own and counts as one sample (τ = its whole number of values).
[[nodiscard]] double autocorrelation_time(const at::Tensor& series);

// All values / τ.
[[nodiscard]] double effective_samples(const at::Tensor& series);
// The same per second of the run that made the series.
[[nodiscard]] double effective_samples_per_second(const at::Tensor& series, double seconds);

}  // namespace harmonium
