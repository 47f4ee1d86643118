#include "harmonium/families/inference_options.h"

#include <algorithm>
#include <array>

#include "harmonium/core/error.h"
#include "harmonium/families/run_data.h"

namespace harmonium {

namespace {

constexpr std::array ways = {"mean_field", "gibbs", "mean_field_then_gibbs", "annealing", "exact"};

}  // namespace

void check_inference(const InferenceOptions& options) {
  const InferenceOptions usual;
  const std::string& by = options.inference;
  require(std::ranges::find(ways, by) != ways.end(),
          "@inference {}: there are mean_field, gibbs, mean_field_then_gibbs, annealing and exact", by);
  const bool gibbs = by == "gibbs" || by == "mean_field_then_gibbs", annealing = by == "annealing",
             mean_field = by == "mean_field" || by == "mean_field_then_gibbs";
  require(options.posterior_sweeps >= 1, "@posterior_sweeps {}: give a number of sweeps, 1 or more",
          options.posterior_sweeps);
  require(gibbs || options.posterior_sweeps == usual.posterior_sweeps,
          "@posterior_sweeps belongs to @inference gibbs and mean_field_then_gibbs, and @inference is {}", by);
  require(options.annealing_sweeps >= 1, "@annealing_sweeps {}: give a number of sweeps, 1 or more",
          options.annealing_sweeps);
  require(annealing || options.annealing_sweeps == usual.annealing_sweeps,
          "@annealing_sweeps belongs to @inference annealing, and @inference is {}", by);
  // Written so that NaN is refused as well.
  require(options.start_temperature >= 1 && options.start_temperature <= 1e6,
          "@start_temperature {}: give a temperature from 1 to 1e6", options.start_temperature);
  require(annealing || options.start_temperature == usual.start_temperature,
          "@start_temperature belongs to @inference annealing, and @inference is {}", by);
  require(options.mean_field_damping >= 0 && options.mean_field_damping < 1,
          "@mean_field_damping {}: give a share from 0 to below 1", options.mean_field_damping);
  require(mean_field || options.mean_field_damping == usual.mean_field_damping,
          "@mean_field_damping belongs to @inference mean_field and mean_field_then_gibbs, and @inference is {}", by);
}

DataInference data_inference(const RunConfig& config, const InferenceOptions& options) {
  using By = DataInference::By;
  using Start = SampledPosteriorOptions::Start;
  const std::string& by = options.inference;
  const bool annealing = by == "annealing";
  const MeanFieldOptions mean_field{.damping = options.mean_field_damping};
  return {.by = by == "mean_field" ? By::mean_field
                : by == "exact"    ? By::enumeration
                                   : By::sampling,
          .mean_field = mean_field,
          .sampling = {.sweeps = annealing ? options.annealing_sweeps : options.posterior_sweeps,
                       .start = annealing       ? Start::hot
                                : by == "gibbs" ? Start::kept
                                                : Start::mean_field,
                       .temperature = options.start_temperature,
                       .mean_field = mean_field},
          .seed = Key(config.seed).fold_in(run_streams::posterior).bits()};
}

void note_inference(TrainedMachine& model, const InferenceOptions& options) {
  if (options.inference != "mean_field") model.notes["inference"] = options.inference;
}

}  // namespace harmonium
