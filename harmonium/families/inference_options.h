// How hidden units are inferred from data in training, for families whose hidden units are joined to each other.
#pragma once

#include <cstdint>
#include <string>

#include "harmonium/families/machine_file.h"
#include "harmonium/families/run_config.h"
#include "harmonium/training/objectives/contrastive.h"

namespace harmonium {

struct InferenceOptions {
  std::string inference = "mean_field";
  std::int64_t posterior_sweeps = 1;
  std::int64_t annealing_sweeps = 20;
  double start_temperature = 10;
  double mean_field_damping = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("inference", self.inference,
            "hidden units given data, in training: mean_field; gibbs (sampled, one state kept for every row, which "
            "keeps upper layers active); mean_field_then_gibbs; annealing (sampled, from hot to temperature 1 at every "
            "visit of a row); exact (all states, at most 15 hidden binary units)");
    visitor("posterior_sweeps", self.posterior_sweeps,
            "gibbs and mean_field_then_gibbs: sweeps of the hidden units at every visit of a row");
    visitor("annealing_sweeps", self.annealing_sweeps,
            "annealing: sweeps of the hidden units at every visit of a row, the last at temperature 1");
    visitor("start_temperature", self.start_temperature, "annealing: temperature of the first sweep");
    visitor("mean_field_damping", self.mean_field_damping,
            "mean_field and mean_field_then_gibbs: share of its old field that a unit keeps in every sweep, from 0 to "
            "below 1");
  }
};

// Fails where a value makes no sense, or belongs to another way of inference.
void check_inference(const InferenceOptions& options);
[[nodiscard]] DataInference data_inference(const RunConfig& config, const InferenceOptions& options);
// What `evaluate` anneals rows for: models that were not trained by mean field are far above its bound.
void note_inference(TrainedMachine& model, const InferenceOptions& options);

}  // namespace harmonium
