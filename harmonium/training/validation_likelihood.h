// The log-likelihood of validation rows while a Boltzmann machine is trained: what the best model is chosen by.
//
// Where a side is small log Z is exact at every look; else it is followed along the training
// (likelihood/running_log_z). Where hidden layers are joined the log-likelihood is bounded by mean field, as training
// itself does, or by a short annealing of every row (likelihood/row_annealing) where training samples them: the
// mean-field bound falls as upper layers learn, and would choose a model that has not learnt yet.
#pragma once

#include <optional>

#include "harmonium/data/dataset.h"
#include "harmonium/training/followed_log_z.h"

namespace harmonium {

struct ValidationLikelihoodOptions {
  std::int64_t rows = 1000;  // at most so many, binarized once
  // Of log Z (training/followed_log_z.h).
  std::int64_t chains = 100;
  double steps_per_update = 0.25;
  std::int64_t first_steps = 100;
  // Joined hidden layers: by so many annealing steps, of so many chains for every row; 0: by mean field.
  std::int64_t row_betas = 0, row_chains = 2;
  int exact_bits = 14;  // log Z is exact where the smaller side has at most 2^14 states
};

class ValidationLikelihood {
 public:
  // `machine` is the model before its first update; `data_moments` give the base where there are any.
  ValidationLikelihood(const BoltzmannMachine& machine, const ObservedMoments& data_moments, const Dataset& valid,
                       Binarization binarization, const ValidationLikelihoodOptions& options, const Key& key);

  struct Found {
    double mean = 0;                          // over rows
    std::optional<double> effective_samples;  // nothing where log Z is exact
    bool trusted = true;                      // whether log Z is known well enough to compare models by the mean
  };
  // Of the machine as it is after `update` updates; asked in order.
  [[nodiscard]] Found measure(const BoltzmannMachine& machine, std::int64_t update);
  [[nodiscard]] std::int64_t rows() const { return rows_.front().size(0); }

  [[nodiscard]] NamedTensors state() const { return log_z_.state(); }
  void restore(const NamedTensors& tensors) { log_z_.restore(tensors); }

 private:
  [[nodiscard]] double mean_log_f(const BoltzmannMachine& machine, std::int64_t update) const;

  ValidationLikelihoodOptions options_;
  Key key_;
  std::vector<at::Tensor> rows_;
  FollowedLogZ log_z_;
};

}  // namespace harmonium
