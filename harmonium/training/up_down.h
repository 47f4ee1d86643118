// Fine-tuning a belief net by up–down (gradients/wake_sleep.h): one update is a batch, both phases, a step of all
// weights at once, and the average of iterates.
//
// As in Trainer, everything random is a function of (seed, update), so a run restored at update u goes on as one that
// was never stopped.
#pragma once

#include <memory>
#include <optional>

#include "harmonium/gradients/wake_sleep.h"
#include "harmonium/training/averaging.h"
#include "harmonium/training/batch_stream.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

struct UpDownOptions {
  bool adam = false;      // else the gradient itself
  StepOptions step = {};  // rates, schedule, momentum, penalties
  std::int64_t updates = 5000;
  double averaging = 100;  // time-scale in updates; at most 1 switches it off
  std::uint64_t seed = 0;
};

class UpDown {
 public:
  // Takes a copy of the net, untied. Batches carry labels where the top machine has one. The negative phase is the top
  // machine's.
  UpDown(const BeliefNet& net, BatchStream batches, std::unique_ptr<NegativePhase> top_phase,
         const UpDownOptions& options);

  // One update. Throws RunFailure, naming update and tensor, when parameters have diverged.
  void step();
  void check() const;

  [[nodiscard]] std::int64_t update() const { return update_; }  // updates done
  [[nodiscard]] bool finished() const { return update_ >= options_.updates; }
  [[nodiscard]] double epoch() const { return batches_.epoch(update_); }
  [[nodiscard]] double gradient_norm() const { return gradient_.empty() ? 0 : norm(gradient_); }
  [[nodiscard]] const BeliefNet& net() const { return net_; }
  // The net with averaged parameters (shared: they move on with the next step).
  [[nodiscard]] BeliefNet averaged() const { return with_parameters(net_, averaging_.average()); }
  [[nodiscard]] const Moments& averaged_parameters() const { return averaging_.average(); }
  // What was drawn in the last update; empty before the first.
  [[nodiscard]] const WakeSleepStates& drawn() const { return drawn_; }

  [[nodiscard]] NamedTensors state() const;
  void restore(std::int64_t update, const NamedTensors& saved);

 private:
  BeliefNet net_;
  Moments parameters_;  // those of net_, shared
  BatchStream batches_;
  std::unique_ptr<NegativePhase> top_phase_;
  UpDownOptions options_;
  std::vector<ParameterGroup> groups_;
  StepRule rule_;
  std::unique_ptr<Optimizer> optimizer_;
  Averaging averaging_;
  Key key_;
  std::int64_t update_ = 0;
  Moments gradient_;
  WakeSleepStates drawn_;
};

}  // namespace harmonium
