// Herding (Welling 2009): a deterministic sequence of states whose average statistics approach given moments as 1/T.
//
//   x_t = argmax_x θ_{t−1}·g(x),   θ_t = θ_{t−1} + rate · (s − g(x_t)).
//
// All layers count as observed: s holds moments of every layer and edge. Since Σ_t (s − g(x_t)) = (θ_T − θ_0)/rate, the
// average of g is off by ‖θ_T − θ_0‖ / (rate·T), which is O(1/T) as long as θ stays bounded; chance would give 1/√T.
// The maximum is a local one: blocks of layers take their best values in turn, from the state before, until none
// changes. θ stays bounded if θ·g(x_t) ≥ θ·s (perceptron cycling theorem); shortfalls() counts the steps where the
// local maximum was not good enough for that. Cost of a step: two products with the weights for every pass over the
// blocks.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct HerdingOptions {
  double rate = 1;                // of binary and softmax layers only the ratio to the first parameters matters
  std::int64_t most_passes = 50;  // passes over the blocks at one step
};

class Herding {
 public:
  // Starts at the machine's own parameters with a state of zeros; `target` has the machine's entries.
  Herding(const BoltzmannMachine& machine, const Moments& target, const HerdingOptions& options = {});

  // The next state (one row).
  const State& step();
  [[nodiscard]] const State& state() const { return state_; }  // the last one

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] std::int64_t shortfalls() const { return shortfalls_; }
  // Average of g over all states so far, and its distance from the target.
  [[nodiscard]] Moments mean_statistics() const;
  [[nodiscard]] double moment_error() const;
  [[nodiscard]] const Moments& parameters() const { return machine_.parameters(); }

 private:
  HerdingOptions options_;
  BoltzmannMachine machine_;  // float64: sums of many small steps
  Moments target_, total_;
  State state_;
  std::int64_t steps_ = 0, shortfalls_ = 0;
};

}  // namespace harmonium
