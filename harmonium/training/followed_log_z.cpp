#include "harmonium/training/followed_log_z.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

namespace {

BaseModel base_for(const BoltzmannMachine& machine, const ObservedMoments& data_moments) {
  if (data_moments.empty()) return uniform_base(machine);
  return {machine.with_parameters(base_rate_parameters(machine, data_moments)), "base rates"};
}

constexpr int most_bits = 20;

bool is_exact(const BoltzmannMachine& machine, int bits) {
  if (can_enumerate(machine, bits)) return true;
  if (!can_enumerate(machine, most_bits)) return false;
  constexpr double usual_width = 512;
  const EnumerationPlan plan = plan_enumeration(machine, most_bits);
  double width = 0;
  for (const std::size_t layer : plan.summed) width += static_cast<double>(machine.unit(layer).width());
  return plan.states * width <= std::exp2(bits) * usual_width;
}

// Checkpoints know it by this name since before there were others that follow log Z.
constexpr const char* followed_update = "validation_likelihood.update";
constexpr const char* followed_again = "validation_likelihood.begun_again";

}  // namespace

FollowedLogZ::FollowedLogZ(const BoltzmannMachine& machine, const ObservedMoments& data_moments,
                           const FollowedLogZOptions& options, const Key& key)
    : options_(options), key_(key) {
  if (is_exact(machine, options.exact_bits)) return;
  base_.emplace(base_for(machine, data_moments));
  running_.emplace(*base_, options.chains, key);
}

double FollowedLogZ::log_z(const BoltzmannMachine& machine, std::int64_t update) {
  if (!running_) return exact_log_z(machine, most_bits).value;
  if (update != update_) {
    const double steps = options_.steps_per_update * static_cast<double>(update - update_);
    running_->go_to(machine, update_ < 0 ? options_.first_steps
                                         : std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(steps))));
    update_ = update;
    if (!trusted() && --looks_until_next_ < 0) begin_afresh(machine);
  }
  return running_->log_z();
}

void FollowedLogZ::begin_afresh(const BoltzmannMachine& machine) {
  ++begun_;
  running_.emplace(*base_, options_.chains, key_of_beginning());
  running_->go_to(machine, options_.afresh_steps);
  pause_ = trusted() ? 1 : 2 * pause_;
  looks_until_next_ = pause_ / 2;
}

Key FollowedLogZ::key_of_beginning() const {
  return begun_ == 0 ? key_ : key_.fold_in(0xAF).fold_in(static_cast<std::uint64_t>(begun_));
}

bool FollowedLogZ::trusted() const { return !running_ || running_->effective_samples() >= options_.enough; }

std::optional<double> FollowedLogZ::effective_samples() const {
  if (!running_) return std::nullopt;
  return running_->effective_samples();
}

NamedTensors FollowedLogZ::state() const {
  if (!running_) return {};
  NamedTensors all = running_->state();
  all.emplace_back(followed_update, at::full({1}, update_, at::kLong));
  all.emplace_back(followed_again, at::tensor({begun_, looks_until_next_, pause_}, at::kLong));
  return all;
}

void FollowedLogZ::restore(const NamedTensors& tensors) {
  if (!running_) return;
  update_ = find_tensor(tensors, followed_update, "the validation likelihood").item<std::int64_t>();
  // Checkpoints of before have none, and their chains have begun once.
  begun_ = 0, looks_until_next_ = 0, pause_ = 1;
  for (const auto& [name, value] : tensors)
    if (name == followed_again) {
      require(value.numel() == 3, "{} of the checkpoint has {} numbers, not 3; it is damaged", name, value.numel());
      const at::Tensor numbers = value.to(at::kLong);
      begun_ = numbers[0].item<std::int64_t>();
      looks_until_next_ = numbers[1].item<std::int64_t>();
      pause_ = numbers[2].item<std::int64_t>();
    }
  if (begun_ > 0) running_.emplace(*base_, options_.chains, key_of_beginning());
  running_->restore(tensors);
}

}  // namespace harmonium
