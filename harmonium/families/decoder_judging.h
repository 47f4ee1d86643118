// Judging models with a decoder of real latent variables by annealing it (likelihood/decoder_annealing.h), from the
// encoder (base "data" or "encoder") or from the prior: a lower bound, with both sides on rows of the model's own as
// the verdict, and with what importance sampling says of the same rows beside it.
//
// A row costs chains × β × 11 gradients, so that usually some rows of the data are annealed (raise_rows of the options,
// as where RAISE anneals rows), drawn by the seed: the answer is about those, and says so. `chains`, of each row, and
// `betas` may be 0: 8 and 300.
#pragma once

#include "harmonium/families/model.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

// Fails where an option does not go with it.
void check_decoder_annealing(const EstimationOptions& options);
// How many of so many rows are annealed.
[[nodiscard]] std::int64_t annealed_rows(const EstimationOptions& options, std::int64_t rows);
// Whether an answer is about some of so many rows, as it then says itself.
[[nodiscard]] bool is_about_some_of(const Evaluation& evaluation, std::int64_t rows);
// Whether an answer was found by annealing with these options.
[[nodiscard]] bool annealed_the_same_way(const Evaluation& old, const EstimationOptions& options);

// `journal` may be null.
[[nodiscard]] std::vector<Evaluation> judge_by_decoder_annealing(const LatentModel& model, const Moments& parameters,
                                                                 const Unit& visible,
                                                                 const std::vector<const TestData*>& tests,
                                                                 const EstimationOptions& options, Watcher& watcher,
                                                                 Journal* journal);

}  // namespace harmonium
