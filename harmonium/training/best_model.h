// The averaged parameters under which an error was lowest so far: early stopping without stopping.
#pragma once

#include <limits>

#include "harmonium/core/moments.h"
#include "harmonium/core/named_tensors.h"

namespace harmonium {

class BestModel {
 public:
  // Keeps a copy where the error is lower than ever; of equal ones, the first.
  void observe(const Moments& parameters, double error, std::int64_t update) {
    if (!(error < error_)) return;
    parameters_ = parameters.clone();
    error_ = error;
    update_ = update;
  }
  [[nodiscard]] bool empty() const { return parameters_.empty(); }
  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] double error() const { return error_; }
  [[nodiscard]] std::int64_t update() const { return update_; }

  // Names start with "best.", so that they may stand beside a training's.
  [[nodiscard]] NamedTensors state() const;
  // Takes what is its own and leaves the rest; `shape` gives the order of the parameters.
  void restore(const NamedTensors& tensors, const Moments& shape);

 private:
  Moments parameters_;
  double error_ = std::numeric_limits<double>::infinity();
  std::int64_t update_ = 0;
};

}  // namespace harmonium
