// The model of an annealing experiment and the rows it is judged by.
#pragma once

#include <optional>

#include "harmonium/experiments/annealing_experiment.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/likelihood/base_model.h"

namespace harmonium {

struct AnnealingSubject {
  TrainedMachine model;
  State rows;
  std::string description, data;  // in words

  [[nodiscard]] BaseModel base(const AnnealingExperiment& experiment) const;
};

// Trains the model first where the experiment says so; nothing where that was interrupted.
[[nodiscard]] std::optional<AnnealingSubject> open_subject(const AnnealingExperiment& experiment,
                                                           const ReproduceOptions& options);

}  // namespace harmonium
