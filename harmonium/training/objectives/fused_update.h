// A whole update in a few launches of a device's kernels: batch, gradient, metric, step and average, with the same
// draws and the same step as the general way (Training::step).
#pragma once

#include "harmonium/training/averaging.h"
#include "harmonium/training/objectives/objective.h"

namespace harmonium {

class FusedUpdate {
 public:
  virtual ~FusedUpdate() = default;

  // `last`: no update follows, so that no batch need be drawn ahead.
  virtual void step(const Step& step, BatchStream& batches, Optimizer& optimizer, const StepRule& rule,
                    Averaging& averaging, bool last) = 0;
  // Of the last update; 0 before the first.
  [[nodiscard]] virtual double gradient_norm() const = 0;
};

}  // namespace harmonium
