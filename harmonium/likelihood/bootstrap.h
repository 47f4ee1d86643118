// Intervals for log-mean-exp estimates by resampling, because importance weights are anything but Gaussian.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"

namespace harmonium {

struct Interval {
  double low = 0, high = 0;
};

// log of the average of e^{log_weights}.
[[nodiscard]] double log_mean_exp(const at::Tensor& log_weights);
// (Σw)² / Σw²: how many equal weights would be as good.
[[nodiscard]] double effective_sample_size(const at::Tensor& log_weights);
// Percentile interval of log_mean_exp over `resamples` draws of the weights with replacement.
[[nodiscard]] Interval bootstrap_log_mean_exp(const at::Tensor& log_weights, const Key& key, double coverage = 0.95,
                                              std::int64_t resamples = 1000);
// The same for the plain mean of `values`.
[[nodiscard]] Interval bootstrap_mean(const at::Tensor& values, const Key& key, double coverage = 0.95,
                                      std::int64_t resamples = 1000);

// The same for a function of two sets that are resampled independently: it is handed rows of resamples of each and
// returns a number for each row.
using PairStatistic = at::Tensor (*)(const at::Tensor& one, const at::Tensor& other);
[[nodiscard]] Interval bootstrap_pair(const at::Tensor& one, const at::Tensor& other, PairStatistic statistic,
                                      const Key& key, double coverage = 0.95, std::int64_t resamples = 1000);

}  // namespace harmonium
