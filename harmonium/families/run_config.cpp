#include "harmonium/families/run_config.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/named_table.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

namespace {

// "pcd (persistent contrastive divergence: …), fpcd (…)".
template <class Table>
std::string with_help(const Table& table) {
  std::string text;
  for (const auto& each : table) text += format("{}{} ({})", text.empty() ? "" : ", ", each.name, each.help);
  return text;
}

}  // namespace

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
          .warmup = config.rate_warmup,
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
  const MetricType& type = find_metric(optimizer);
  return objective == "generative" ? type.rates : type.label_rates;
}

const char* visible_help() {
  static const std::string text = format(
      "visible units: {}; auto: counts if the data set holds word counts, gaussian for models of real values, else bernoulli",
      data_unit_forms());
  return text.c_str();
}

const char* objective_help() {
  static const std::string text = "what to maximize: " + with_help(objectives());
  return text.c_str();
}

const char* gradient_help() {
  static const std::string text =
      format("negative phase: {}; auto: pcd, cd for word counts, pt for small RBMs of binary units",
             with_help(negative_phases()));
  return text.c_str();
}

const char* optimizer_help() {
  static const std::string text = format(
      "Boltzmann machines: {}; auto: fang, or centering where there are no chains. Nets and directed models: {}; auto: "
      "adam",
      names_of(metrics()), names_of(optimizers()));
  return text.c_str();
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

Reading reading_of(const RunConfig& config) {
  // A run says "none" and "no" where it has nothing to say.
  return {.label_column = config.label_column == "none" ? "auto" : config.label_column,
          .scale = config.scale,
          .shape = config.shape,
          .transpose = config.transpose == "no" ? "auto" : config.transpose,
          .first_label = config.first_label,
          .first_category = config.first_category,
          .sequences = config.sequences};
}

Reading reading_like(const RunConfig& run, const Reading& given) {
  const Reading usual, trained = reading_of(run);
  Reading result = given;
  for (const auto field : {&Reading::label_column, &Reading::scale, &Reading::shape, &Reading::transpose,
                           &Reading::first_label, &Reading::first_category, &Reading::sequences})
    if (result.*field == usual.*field) result.*field = trained.*field;
  return result;
}

}  // namespace harmonium
