// The Fisher information itself, from an enumeration of the model's states, plus damping on its diagonal.
//
// The natural gradient of small machines, and the oracle that others are compared with. Cost O(dim³) per refit.
#pragma once

#include "harmonium/geometry/metric.h"

namespace harmonium {

class ExactMetric final : public Metric {
 public:
  ExactMetric(const Topology& topology, const Moments& shape, const MetricOptions& options = {})
      : index_(topology, shape), options_(options) {}
  [[nodiscard]] std::string name() const override { return "exact"; }
  [[nodiscard]] bool wants_enumeration() const override { return true; }
  void observe(const Observation& observation) override;
  // Damps more, and notes it, where the matrix is not positive definite.
  void refit() override;
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override;
  [[nodiscard]] std::int64_t parameter_count() const override;

 private:
  StatisticIndex index_;
  MetricOptions options_;
  at::Tensor covariance_, factor_;
};

}  // namespace harmonium
