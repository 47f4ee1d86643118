#include "harmonium/training/validation_likelihood.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/likelihood/row_annealing.h"

namespace harmonium {

namespace {

// Rows chosen at random, since many sets are in order of class.
at::Tensor watched_rows(const Dataset& data, Binarization binarization, std::int64_t most, const Key& key) {
  const at::Tensor chosen = permutation(key.fold_in(0), data.rows()).narrow(0, 0, std::min(most, data.rows()));
  return binarize(data.gather(chosen), binarization, key.fold_in(1), data.step());
}

}  // namespace

ValidationLikelihood::ValidationLikelihood(const BoltzmannMachine& machine, const ObservedMoments& data_moments,
                                           const Dataset& valid, Binarization binarization,
                                           const ValidationLikelihoodOptions& options, const Key& key)
    : options_(options),
      key_(key),
      rows_({watched_rows(valid, binarization, options.rows, key.fold_in(0))}),
      log_z_(machine, data_moments,
             {.chains = options.chains,
              .steps_per_update = options.steps_per_update,
              .first_steps = options.first_steps,
              .exact_bits = options.exact_bits},
             key.fold_in(1)) {
  require(machine.observed().size() == 1, "a validation likelihood is that of rows without labels");
}

double ValidationLikelihood::mean_log_f(const BoltzmannMachine& machine, std::int64_t update) const {
  const State data = machine.observe(rows_);
  if (options_.row_betas == 0 || !machine.hidden_joined()) return log_unnormalized(machine, data).mean().item<double>();
  const Key key = key_.fold_in(2).fold_in(static_cast<std::uint64_t>(update));
  return anneal_rows(machine, data, key, {.chains = options_.row_chains, .betas = options_.row_betas})
      .log_f.mean()
      .item<double>();
}

ValidationLikelihood::Found ValidationLikelihood::measure(const BoltzmannMachine& machine, std::int64_t update) {
  const double log_f = mean_log_f(machine, update);
  const double log_z = log_z_.log_z(machine, update);
  return {.mean = log_f - log_z, .effective_samples = log_z_.effective_samples(), .trusted = log_z_.trusted()};
}

}  // namespace harmonium
