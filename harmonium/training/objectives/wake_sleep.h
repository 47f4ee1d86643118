// Fine-tuning a belief net by up–down (gradients/wake_sleep.h): both phases of a batch give the gradient of all weights
// at once, those of the way up, of the way down and of the top machine.
#pragma once

#include <memory>

#include "harmonium/gradients/wake_sleep.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

class WakeSleep final : public Objective {
 public:
  // Takes a copy of the net, untied. Batches carry labels where the top machine has one. The negative phase is the top
  // machine's and must have chains to dream from.
  WakeSleep(const BeliefNet& net, std::unique_ptr<NegativePhase> top_phase);

  [[nodiscard]] const BeliefNet& net() const { return net_; }
  // What was drawn in the last update; empty before the first.
  [[nodiscard]] const WakeSleepStates& drawn() const { return drawn_; }

  [[nodiscard]] Moments& parameters() override { return parameters_; }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return groups_of(net_); }
  void begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) override;
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  void after_step() override;

  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  BeliefNet net_;
  Moments parameters_;  // those of net_, shared
  std::unique_ptr<NegativePhase> top_phase_;
  WakeSleepStates drawn_;
};

}  // namespace harmonium
