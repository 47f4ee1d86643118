#include "harmonium/families/run_config.h"

#include <algorithm>
#include <cmath>

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

NegativePhaseOptions negative_phase_options(const RunConfig& config) {
  return {.sweeps = config.sweeps,
          .sweeps_final = config.sweeps_final,
          .mean_field_steps = config.mean_field_steps,
          .particles = config.particles,
          .rungs = config.rungs,
          .fast_rate = config.fast_rate,
          .fast_decay = config.fast_decay};
}

StepOptions step_options(const RunConfig& config) {
  return {.rate_bias = config.rate_bias,
          .rate_weights = config.rate_weights,
          .schedule = parse_schedule(config.schedule),
          .schedule_tau = config.schedule_tau,
          .momentum = config.momentum,
          .weight_decay = config.weight_decay,
          .weight_decay_l1 = config.weight_decay_l1};
}

Rates counts_rates(double mean_length) {
  // 20 Newsgroups (50 words a document), precision of the nearest document: 0.2 was better than 0.01 and 0.05, and 0.4
  // as good.
  const double rate = 10 / std::max(1.0, mean_length);
  return {.bias = rate, .weights = rate};
}

Rates default_rates(const std::string& optimizer, const std::string& objective) {
  // log p(label | data) is a fraction of a nat per row where log p(data) is a hundred, and its gradient as much
  // smaller.
  const bool about_labels = objective != "generative";
  if (about_labels && (optimizer == "sgd" || optimizer == "centering" || optimizer == "enhanced"))
    return {.bias = 5, .weights = 5};
  if (optimizer == "sgd" || optimizer == "centering" || optimizer == "enhanced") return {.bias = 0.1, .weights = 0.1};
  if (optimizer == "diagonal") return {.bias = 0.02, .weights = 0.02};
  // Steps of a natural gradient: a rate of one would fit the batch at hand, and noise with it.
  return {.bias = 0.05, .weights = 0.005};
}

Rates scaled_rates(const std::string& optimizer, const std::string& objective, std::int64_t batch,
                   std::int64_t particles) {
  const Rates usual = default_rates(optimizer, objective);
  // The noise of a gradient falls with the root of the rows and chains that it is an average of, whichever are fewer.
  constexpr double usual_rows = 100;
  const double rows = static_cast<double>(std::max<std::int64_t>(1, std::min(batch, particles)));
  const double share = std::sqrt(rows / usual_rows);
  return {.bias = usual.bias * share, .weights = usual.weights * share};
}

}  // namespace harmonium
