// What importance weights say about themselves.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace harmonium {

struct WeightDiagnostics {
  double effective_samples = 0;  // (Σw)² / Σw²: how many equal weights would be as good
  double largest_share = 0;      // of the sum, that the largest weight holds
  double deviation = 0;          // of the log-weights
  // Shape k of the Pareto tail of the largest fifth (Zhang & Stephens 2009): below ½ the weights have a variance, above
  // 0.7 the average hangs on draws that were not made and neither it nor its interval can be trusted. Nothing for fewer
  // than 25 weights.
  std::optional<double> pareto_k;
};

[[nodiscard]] WeightDiagnostics diagnose(const at::Tensor& log_weights);

// How many of so many weights, the largest, are their tail; 0: too few for an opinion.
[[nodiscard]] std::int64_t pareto_tail(std::int64_t weights);
// Shape of the generalized Pareto distribution that exceedances x ≥ 0 (sorted, increasing) come from.
[[nodiscard]] double pareto_shape(const at::Tensor& exceedances);

}  // namespace harmonium
