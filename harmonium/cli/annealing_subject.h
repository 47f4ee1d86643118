// The model of an annealing experiment and the rows it is judged by.
#pragma once

#include <optional>

#include "harmonium/cli/annealing_experiment.h"
#include "harmonium/likelihood/base_model.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

struct AnnealingSubject {
  Model model;
  State rows;
  std::string description, data;  // in words

  [[nodiscard]] BaseModel base(const AnnealingExperiment& experiment) const;
};

// Trains the model first where the experiment says so; nothing where that was interrupted.
[[nodiscard]] std::optional<AnnealingSubject> open_subject(const AnnealingExperiment& experiment,
                                                           const ReproduceOptions& options);

}  // namespace harmonium::cli
