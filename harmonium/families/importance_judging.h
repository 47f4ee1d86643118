// Judging models with latent variables by importance sampling, with both sides on rows of the model's own as the
// verdict (likelihood/importance_bound.h): what vae, ladder and sbn share.
#pragma once

#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

[[nodiscard]] std::vector<Evaluation> judge_by_importance(const LatentModel& model, const Moments& parameters,
                                                          const Unit& visible,
                                                          const std::vector<const TestData*>& tests,
                                                          const EstimationOptions& options, Watcher& watcher);
// What that is made of. Rows with their bounds, how those rise and how heavy the tails of their weights are
// (ImportanceBound).
struct BoundedRows : JudgedRows {
  at::Tensor rising, tails;
};
// Of some rows, in pieces that bound memory; with a prior that is not normalized, bounds are too large by its log Z.
[[nodiscard]] BoundedRows bound_rows(const LatentModel& model, const Moments& parameters, const at::Tensor& rows,
                                     std::int64_t draws, const Key& key, const Progress& progress);
// Puts it into an answer: Evaluation::bounds and heavy_rows, and a sentence at the end of the verdict.
void tell_rise(Evaluation& answer, const std::vector<BoundedRows>& found);
// And what they may miss: a sentence about rows of the model's own.
[[nodiscard]] OwnDrawBounds judge_own_rows(const LatentModel& model, const Moments& parameters,
                                           const EstimationOptions& options);
[[nodiscard]] std::string in_words(const OwnDrawBounds& own, double acceptable);

// By the bidirectional machine of the same nets (likelihood/bidirectional.h): log p* = log p̃ − log Z², an estimate,
// with the bound log p̃ as the verdict.
[[nodiscard]] std::vector<Evaluation> judge_bidirectional(const LatentModel& model, const Moments& parameters,
                                                          const Unit& visible,
                                                          const std::vector<const TestData*>& tests,
                                                          const EstimationOptions& options, Watcher& watcher);

// By mean field (likelihood/mean_field_bound.h), beside the importance bound of the same rows.
[[nodiscard]] std::vector<Evaluation> judge_by_mean_field(const SigmoidBeliefNet& net, const Unit& visible,
                                                          const std::vector<const TestData*>& tests,
                                                          const EstimationOptions& options, Watcher& watcher);

}  // namespace harmonium
