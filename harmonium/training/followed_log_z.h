// log Z of a machine while it is trained: exact where a side is small, else followed along the training
// (likelihood/running_log_z.h).
#pragma once

#include <optional>

#include "harmonium/likelihood/running_log_z.h"

namespace harmonium {

struct FollowedLogZOptions {
  std::int64_t chains = 100;
  double steps_per_update = 0.25;
  std::int64_t first_steps = 100;  // from the base to the model before its first update
  int exact_bits = 14;             // exact where the smaller side has at most 2^14 states
};

class FollowedLogZ {
 public:
  // `machine` is the model before its first update; `data_moments` give the base where there are any.
  FollowedLogZ(const BoltzmannMachine& machine, const ObservedMoments& data_moments, const FollowedLogZOptions& options,
               const Key& key);

  // Of the machine as it is after `update` updates; asked in order.
  [[nodiscard]] double log_z(const BoltzmannMachine& machine, std::int64_t update);
  // The fewest so far; nothing where log Z is exact.
  [[nodiscard]] std::optional<double> effective_samples() const;

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  FollowedLogZOptions options_;
  std::optional<RunningLogZ> running_;  // nothing where log Z is exact
  std::int64_t update_ = -1;            // of the last look
};

}  // namespace harmonium
