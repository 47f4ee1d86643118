// All states of a machine as pairs (low, high) of two halves of the enumerated units, so that nothing needs to be
// computed for every state but what truly depends on both halves.
//
// With x₀ the state number 0, a state is x = x₀ + (x_low − x₀) + (x_high − x₀), so fields and the enumerated units' own
// potentials are sums of a part of each half; edges among the enumerated units add one bilinear term. What is left for
// each pair is the log-partition of the summed units (Unit::pair_log_partitions).
#pragma once

#include <functional>

#include "harmonium/models/enumeration.h"

namespace harmonium {

class SplitEnumeration {
 public:
  // The machine in float64.
  SplitEnumeration(BoltzmannMachine machine, EnumerationPlan plan);

  [[nodiscard]] std::int64_t lows() const { return low_.rows(); }
  // Enumerated layers beside each other, relative to state 0, for the lows and for `count` highs: rows × width.
  [[nodiscard]] const at::Tensor& low_deviation() const { return low_deviation_; }
  [[nodiscard]] at::Tensor high_deviation(std::int64_t first, std::int64_t count) const;
  [[nodiscard]] const at::Tensor& zero() const { return zero_values_; }  // state 0: 1 × width

  // Visits all states in chunks, in the order of their numbers: log Σ_summed e^{−E}, highs × lows, for the highs from
  // `first` on.
  void for_each(const std::function<void(std::int64_t first, const at::Tensor& log_weight)>& visit,
                const std::function<void(std::int64_t, std::int64_t)>& progress = {}) const;

 private:
  [[nodiscard]] State high_states(std::int64_t first, std::int64_t count) const;
  // −E among the enumerated layers alone.
  [[nodiscard]] at::Tensor own_potential(const State& state) const;
  // Enumerated layers beside each other.
  [[nodiscard]] at::Tensor values(const State& state) const;
  [[nodiscard]] at::Tensor log_weights(std::int64_t first, std::int64_t count) const;

  BoltzmannMachine machine_;
  EnumerationPlan plan_;
  std::int64_t highs_ = 1;
  State zero_, low_;
  at::Tensor zero_values_, low_deviation_, low_own_;  // low_own_: own potential of a low, less that of state 0
  Fields low_fields_;                                 // of the summed layers, less those of state 0
  at::Tensor
      coupling_;  // weights among the enumerated units, both ways (width × width); undefined where there are none
};

}  // namespace harmonium
