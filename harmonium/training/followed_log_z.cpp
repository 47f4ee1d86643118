#include "harmonium/training/followed_log_z.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/likelihood/exact.h"

namespace harmonium {

namespace {

BaseModel base_for(const BoltzmannMachine& machine, const ObservedMoments& data_moments) {
  if (data_moments.empty()) return uniform_base(machine);
  return {machine.with_parameters(base_rate_parameters(machine, data_moments)), "base rates"};
}

// Checkpoints know it by this name since before there were others that follow log Z.
constexpr const char* followed_update = "validation_likelihood.update";

}  // namespace

FollowedLogZ::FollowedLogZ(const BoltzmannMachine& machine, const ObservedMoments& data_moments,
                           const FollowedLogZOptions& options, const Key& key)
    : options_(options) {
  if (!can_enumerate(machine, options.exact_bits))
    running_.emplace(base_for(machine, data_moments), options.chains, key);
}

double FollowedLogZ::log_z(const BoltzmannMachine& machine, std::int64_t update) {
  if (!running_) return exact_log_z(machine, options_.exact_bits).value;
  if (update != update_) {
    const double steps = options_.steps_per_update * static_cast<double>(update - update_);
    running_->go_to(machine, update_ < 0 ? options_.first_steps
                                         : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(steps))));
    update_ = update;
  }
  return running_->log_z();
}

std::optional<double> FollowedLogZ::effective_samples() const {
  if (!running_) return std::nullopt;
  return running_->effective_samples();
}

NamedTensors FollowedLogZ::state() const {
  if (!running_) return {};
  NamedTensors all = running_->state();
  all.emplace_back(followed_update, at::full({1}, update_, at::kLong));
  return all;
}

void FollowedLogZ::restore(const NamedTensors& tensors) {
  if (!running_) return;
  update_ = find_tensor(tensors, followed_update, "the validation likelihood").item<std::int64_t>();
  running_->restore(tensors);
}

}  // namespace harmonium
