// A tensor averaged over observations: the first is taken whole, later ones by an exponential average.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

class RunningAverage {
 public:
  void observe(const at::Tensor& value, double weight) {
    if (!average_.defined())
      average_ = value.clone();
    else
      average_.lerp_(value, weight);
  }
  [[nodiscard]] bool empty() const { return !average_.defined(); }
  [[nodiscard]] const at::Tensor& get() const { return average_; }
  void restore(const at::Tensor& value) { average_ = value.defined() ? value.clone() : at::Tensor(); }

 private:
  at::Tensor average_;
};

// The weight of an observation made every `every` updates in an average over `time_scale` updates.
[[nodiscard]] inline double observation_weight(std::int64_t every, double time_scale) {
  return std::min(1.0, static_cast<double>(every) / time_scale);
}

}  // namespace harmonium
