#include "harmonium/training/run_config.h"

namespace harmonium {

MetricOptions metric_options(const RunConfig& config) {
  return {.damping = config.damping,
          .centered_damping = config.damping_of == "centered",
          .time_scale = config.statistics_averaging,
          .statistics_every = config.statistics_every,
          .refit_every = config.refit_every,
          .rank = config.rank,
          .iterations = config.iterations,
          .seed = config.seed};
}

Rates default_rates(const std::string& optimizer) {
  if (optimizer == "sgd" || optimizer == "centering" || optimizer == "enhanced") return {.bias = 0.1, .weights = 0.1};
  if (optimizer == "diagonal") return {.bias = 0.02, .weights = 0.02};
  // Steps of a natural gradient: a rate of one would fit the batch at hand, and noise with it.
  return {.bias = 0.05, .weights = 0.005};
}

}  // namespace harmonium
