// Judging models with latent variables by importance sampling, with both sides on rows of the model's own as the
// verdict (likelihood/importance_bound.h): what vae and sbn share.
#pragma once

#include "harmonium/families/model.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

[[nodiscard]] std::vector<Evaluation> judge_by_importance(const LatentModel& model, const Moments& parameters,
                                                          const Unit& visible,
                                                          const std::vector<const TestData*>& tests,
                                                          const EstimationOptions& options, Watcher& watcher);
// By the bidirectional machine of the same nets (likelihood/bidirectional.h): log p* = log p̃ − log Z², an estimate,
// with the bound log p̃ as the verdict.
[[nodiscard]] std::vector<Evaluation> judge_bidirectional(const LatentModel& model, const Moments& parameters,
                                                          const Unit& visible,
                                                          const std::vector<const TestData*>& tests,
                                                          const EstimationOptions& options, Watcher& watcher);

}  // namespace harmonium
