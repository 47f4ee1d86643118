// log Z of a machine while it is trained: exact where a side is small, else followed along the training
// (likelihood/running_log_z.h).
//
// Chains that are left behind by long steps or broad modes show it by few effective samples, and then the estimate is
// too low by nobody knows how much. Where fewer than `enough` are left, log Z is annealed afresh from the base, with
// more steps; where that does not help either, the number is not trusted. It is tried again after 1, 2, 4, … further
// looks, so that a hopeless training is not slowed down much.
#pragma once

#include <optional>

#include "harmonium/likelihood/running_log_z.h"

namespace harmonium {

struct FollowedLogZOptions {
  std::int64_t chains = 100;
  double steps_per_update = 0.25;
  std::int64_t first_steps = 100;    // from the base to the model before its first update
  std::int64_t afresh_steps = 2000;  // from the base to the model of a look where chains were left behind
  double enough = 25;                // effective samples; with 12 of 100 log Z was seen 3.9 nats too low
  // Exact where the smaller side has at most 2^14 states, and where up to 2^20 are as quick to visit as those beside
  // 512 units, since the other side is narrow.
  int exact_bits = 14;
};

class FollowedLogZ {
 public:
  // `machine` is the model before its first update; `data_moments` give the base where there are any.
  FollowedLogZ(const BoltzmannMachine& machine, const ObservedMoments& data_moments, const FollowedLogZOptions& options,
               const Key& key);

  // Of the machine as it is after `update` updates; asked in order.
  [[nodiscard]] double log_z(const BoltzmannMachine& machine, std::int64_t update);
  // The fewest since chains last began; nothing where log Z is exact.
  [[nodiscard]] std::optional<double> effective_samples() const;
  [[nodiscard]] bool trusted() const;

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  void begin_afresh(const BoltzmannMachine& machine);
  [[nodiscard]] Key key_of_beginning() const;

  FollowedLogZOptions options_;
  std::optional<BaseModel> base_;  // nothing where log Z is exact
  Key key_;
  std::optional<RunningLogZ> running_;             // likewise
  std::int64_t update_ = -1;                       // of the last look
  std::int64_t begun_ = 0;                         // how many times chains have begun again
  std::int64_t looks_until_next_ = 0, pause_ = 1;  // before they may begin again, and the pause after that
};

}  // namespace harmonium
