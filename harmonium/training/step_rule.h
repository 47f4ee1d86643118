// From a direction to a change of the parameters: separate rates, a schedule, momentum and weight decay.
#pragma once

#include "harmonium/core/moments.h"
#include "harmonium/core/parameter_group.h"
#include "harmonium/geometry/optimizer.h"
#include "harmonium/training/schedule.h"

namespace harmonium {

struct StepOptions {
  double rate_bias = 0.1;     // on the unary part of a direction
  double rate_weights = 0.1;  // on the pairwise part
  Schedule schedule = Schedule::linear;
  double schedule_tau = 1000;  // updates
  std::int64_t warmup = 0;     // updates over which both rates rise from 0, before and beside the schedule
  double momentum = 0;         // harms persistent chains, which cannot follow a parameter with inertia
  double weight_decay = 0;     // L2, on weights only
  double weight_decay_l1 = 0;  // L1, on weights only: pulls all of them alike, so that most become zero
};

class StepRule {
 public:
  StepRule(StepOptions options, std::int64_t total_updates) : options_(options), total_(total_updates) {}

  // Turns the gradient of an objective into that of the penalized objective. Entries that are not there stay so.
  void penalize_(Moments& gradient, const Moments& parameters, const std::vector<ParameterGroup>& groups) const;
  // What both come to without momentum and L1, for those who do a step themselves.
  struct Rates {
    double weights, bias, weight_decay;
  };
  [[nodiscard]] Rates rates(std::int64_t update) const;
  // Parameters that the direction lacks are left alone, with their inertia.
  void apply_(Moments& parameters, const Direction& direction, std::int64_t update);

  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors, const Moments& shape);

 private:
  StepOptions options_;
  std::int64_t total_;
  Moments velocity_;  // empty without momentum
};

}  // namespace harmonium
