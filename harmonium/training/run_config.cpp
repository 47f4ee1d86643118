#include "harmonium/training/run_config.h"

#include "harmonium/core/error.h"

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
  if (optimizer == "sgd") return {.bias = 0.1, .weights = 0.1};
  if (optimizer == "centering" || optimizer == "enhanced") return {.bias = 0.1, .weights = 0.1};
  if (optimizer == "fang") return {.bias = 0.05, .weights = 0.005};
  fail("no default rates are known for optimizer '{}'; give --rate-weights and --rate-bias", optimizer);
}

}  // namespace harmonium
