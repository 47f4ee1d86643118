#include "harmonium/training/validation_likelihood.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/likelihood/row_annealing.h"

namespace harmonium {

namespace {

// Rows chosen at random, since many sets are in order of class.
at::Tensor watched_rows(const Dataset& data, Binarization binarization, std::int64_t most, const Key& key) {
  const at::Tensor chosen = permutation(key.fold_in(0), data.rows()).narrow(0, 0, std::min(most, data.rows()));
  return binarize(data.gather(chosen), binarization, key.fold_in(1));
}

BaseModel base_for(const BoltzmannMachine& machine, const ObservedMoments& data_moments) {
  if (data_moments.empty()) return uniform_base(machine);
  return {machine.with_parameters(base_rate_parameters(machine, data_moments)), "base rates"};
}

}  // namespace

ValidationLikelihood::ValidationLikelihood(const BoltzmannMachine& machine, const ObservedMoments& data_moments,
                                           const Dataset& valid, Binarization binarization,
                                           const ValidationLikelihoodOptions& options, const Key& key)
    : options_(options), key_(key), rows_({watched_rows(valid, binarization, options.rows, key.fold_in(0))}) {
  require(machine.observed().size() == 1, "a validation likelihood is that of rows without labels");
  if (!can_enumerate(machine, options.exact_bits))
    running_.emplace(base_for(machine, data_moments), options.chains, key.fold_in(1));
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
  if (!running_) return {.mean = log_f - exact_log_z(machine, options_.exact_bits).value, .effective_samples = {}};
  if (update != update_) {
    const double steps = options_.steps_per_update * static_cast<double>(update - update_);
    running_->go_to(machine, update_ < 0 ? options_.first_steps
                                         : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(steps))));
    update_ = update;
  }
  return {.mean = log_f - running_->log_z(), .effective_samples = running_->effective_samples()};
}

NamedTensors ValidationLikelihood::state() const {
  if (!running_) return {};
  NamedTensors all = running_->state();
  all.emplace_back("validation_likelihood.update", at::full({1}, update_, at::kLong));
  return all;
}

void ValidationLikelihood::restore(const NamedTensors& tensors) {
  if (!running_) return;
  update_ = find_tensor(tensors, "validation_likelihood.update", "the validation likelihood").item<std::int64_t>();
  running_->restore(tensors);
}

}  // namespace harmonium
