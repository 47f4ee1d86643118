#include "harmonium/samplers/diagnostics.h"

#include <algorithm>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

double autocorrelation_time(const at::Tensor& series) {
  require(series.dim() == 2 && series.size(0) >= 1 && series.size(1) >= 4,
          "an autocorrelation time needs chains × steps with at least four steps");
  require(at::isfinite(series).all().item<bool>(), "an autocorrelation time needs finite numbers");
  const at::Tensor x = series.to(at::kDouble) - series.to(at::kDouble).mean();
  const std::int64_t steps = x.size(1);
  const auto covariance = [&](std::int64_t lag) {
    // Divided by all steps and not by those that overlap: long lags, which have few, shall not be loud.
    return (x.narrow(1, 0, steps - lag) * x.narrow(1, lag, steps - lag)).sum().item<double>();
  };
  const double variance = covariance(0);
  if (variance == 0) return static_cast<double>(x.numel());
  double sum = 0, least = std::numeric_limits<double>::infinity();
  for (std::int64_t lag = 0; lag + 1 < steps; lag += 2) {
    const double pair = ((lag == 0 ? variance : covariance(lag)) + covariance(lag + 1)) / variance;
    if (pair <= 0) break;
    least = std::min(least, pair);
    sum += least;
  }
  return std::clamp(2 * sum - 1, 1.0, static_cast<double>(x.numel()));
}

double effective_samples(const at::Tensor& series) {
  return static_cast<double>(series.numel()) / autocorrelation_time(series);
}

double effective_samples_per_second(const at::Tensor& series, double seconds) {
  require(seconds > 0, "effective samples per second need a positive time, not {}", seconds);
  return effective_samples(series) / seconds;
}

}  // namespace harmonium
