// Exponential average of the iterates, the model that is evaluated.
//
// While fewer than `time_scale` updates have been seen, the weight is 1/(updates seen): the plain average, which
// forgets the initial parameters at once instead of over several time-scales.
#pragma once

#include <algorithm>

#include "harmonium/core/moments.h"

namespace harmonium {

class Averaging {
 public:
  // time_scale ≤ 1 switches averaging off: the average is the current iterate.
  Averaging(const Moments& parameters, double time_scale) : average_(parameters.clone()), time_scale_(time_scale) {}

  // `update` counts from 0.
  void observe(const Moments& parameters, std::int64_t update) {
    if (const double new_weight = weight(update); new_weight == 1)
      average_.copy_(parameters);
    else
      average_.lerp_(parameters, new_weight);
  }
  // Of the parameters after that update.
  [[nodiscard]] double weight(std::int64_t update) const {
    return 1 / std::min(std::max(time_scale_, 1.0), static_cast<double>(update) + 1);
  }
  [[nodiscard]] const Moments& average() const { return average_; }
  [[nodiscard]] Moments& average() { return average_; }

 private:
  Moments average_;
  double time_scale_;
};

}  // namespace harmonium
