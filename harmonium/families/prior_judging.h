// Judging a directed net whose prior is a Boltzmann machine: the importance bound lacks the machine's log Z, which is
// exact or between bounds of its own (likelihood/judging.h).
//
//   log p(x) ≥ E log p̂_K − log Z: a lower bound where log Z is exact or bounded from above (reverse AIS, RAISE); with
//   AIS an estimate of one, too high in expectation.
//
// The verdict is about both: what log Z lies between, and what the importance bound misses on rows of the model's own.
#pragma once

#include "harmonium/families/model.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

struct JudgedPrior {
  const LatentModel& model;
  const Moments& parameters;
  BoltzmannMachine machine;  // that is the prior of h_L
  const Unit& visible;
};

// Fails where an option does not go with such a model.
void check_prior_judging(const EstimationOptions& options, const BoltzmannMachine& prior);
[[nodiscard]] std::vector<Evaluation> judge_under_prior(const JudgedPrior& judged,
                                                        const std::vector<const TestData*>& tests,
                                                        const EstimationOptions& options, Watcher& watcher,
                                                        Journal* journal);
// Whether an answer was found in the way that `options` ask for.
[[nodiscard]] bool judged_under_prior(const Evaluation& old, const EstimationOptions& options,
                                      const BoltzmannMachine& prior);

}  // namespace harmonium
