// Plain gradient ascent for any parameters: the direction is the gradient. For machines it is the metric Identity.
#pragma once

#include "harmonium/geometry/optimizer.h"

namespace harmonium {

class Plain final : public Optimizer {
 public:
  explicit Plain(std::vector<ParameterGroup> groups) : groups_(std::move(groups)) {}
  [[nodiscard]] std::string name() const override { return "sgd"; }
  [[nodiscard]] Direction direction(const Moments& gradient, std::int64_t) override {
    return without_split(groups_, gradient);
  }

 private:
  std::vector<ParameterGroup> groups_;
};

}  // namespace harmonium
