// The Euclidean metric: Ĝ = I, the direction is the gradient (plain stochastic gradient ascent).
#pragma once

#include "harmonium/geometry/metric.h"

namespace harmonium {

class Identity final : public Metric {
 public:
  Identity(Topology topology, const Moments& shape) : topology_(std::move(topology)), shape_(shape) {}
  [[nodiscard]] std::string name() const override { return "sgd"; }
  [[nodiscard]] bool wants_observations() const override { return false; }
  [[nodiscard]] bool wants_statistics() const override { return false; }
  void observe(const Observation&) override {}
  void refit() override {}
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override { return 0; }
  [[nodiscard]] std::int64_t parameter_count() const override { return 0; }

 private:
  Topology topology_;
  Moments shape_;
};

}  // namespace harmonium
