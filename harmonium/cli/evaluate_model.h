// What an estimate of log Z says about a model and data: the log-likelihood, its bounds, and a verdict in words.
#pragma once

#include <string>

#include "harmonium/cli/estimation.h"
#include "harmonium/training/files/evaluation.h"

namespace harmonium::cli {

// The evaluation of a model given what was found; without `test`: of log Z alone. `gap` is what two bounds may differ
// by. `path` is the run folder or file of the model, where it has one.
[[nodiscard]] Evaluation evaluate_model(const std::string& path, const Model& model, const TestData* test,
                                        const Findings& findings, double gap);

// Updates that the model has seen, by its notes; 0 where they do not say.
[[nodiscard]] std::int64_t updates_of(const Model& model);

}  // namespace harmonium::cli
