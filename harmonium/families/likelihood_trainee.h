// Training a model that has a log-likelihood, or a bound on it, for every row: what normalized families share.
//
// Metrics are the mean of the batches (by the objective) and validation_log_likelihood, of at most 1000 validation rows
// or 200 sequences (else of the training data), binarized once. With validation data the best model by that number is
// kept.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harmonium/families/family.h"
#include "harmonium/training/followed_log_z.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

// Options of families that are trained by Adam or another of optimizers(): rates, and who is kept.
void resolve_likelihood(RunConfig& config, double adam_rate);

// Notes of a model before its first update.
[[nodiscard]] ModelInfo initial_info(const RunConfig& config, const RunData& data);

// Fails where validation data have other columns, or a value is none that the units can have.
void check_rows(const RunData& data, const Unit& visible);

struct LikelihoodHooks {
  // The mean over rows under these parameters. Empty where nobody knows it on the way.
  std::function<double(const Moments& parameters, const at::Tensor& rows)> mean = {};
  // The model under these parameters.
  std::function<std::unique_ptr<Model>(const Moments& parameters)> model;
  // In place of the mean: numbers about the watched rows for a line of metrics. The one called `kept_by` is an error by
  // which the best model is chosen; without it none is.
  std::function<std::map<std::string, double>(const Moments& parameters, const at::Tensor& rows)> measures = {};
  std::string kept_by = {};
  // In place of the mean, for models of sequences: of a data set whose rows are frames, per frame. Batches are then of
  // whole sequences (BatchOptions::sequences).
  std::function<double(const Moments& parameters, const Dataset& rows)> mean_of_sequences = {};
  // Of a model of which a Boltzmann machine is a part, whose log Z the mean lacks: it is followed along the training
  // and taken off. While it is lost there is no number, and no model is chosen.
  struct Normalizer {
    std::function<BoltzmannMachine(const Moments& parameters)> machine;
    FollowedLogZ log_z;
  };
  std::optional<Normalizer> normalizer = {};
  // In place of the one that the configuration names.
  std::unique_ptr<Optimizer> optimizer = nullptr;
};
[[nodiscard]] std::unique_ptr<Trainee> train_by_likelihood(std::unique_ptr<Objective> objective,
                                                           const RunConfig& config, const RunData& data,
                                                           LikelihoodHooks hooks);

struct JudgedRows {
  Estimate mean;
  at::Tensor each;  // log p of every row
};
// Averages exact (or bounded) log-likelihoods of all draws of a test set: `judge_rows` judges one.
[[nodiscard]] Evaluation judge_by_rows(const TestData& test, const Unit& visible,
                                       const std::function<JudgedRows(const at::Tensor& rows)>& judge_rows);

}  // namespace harmonium
