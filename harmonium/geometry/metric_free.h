// Metric-free natural gradient (Desjardins et al. 2013): (Cov(g) + damping·I) x = gradient by conjugate gradient.
//
// Products with the covariance of the statistics go through the particles, two matrix products each, and no matrix is
// formed. Truncated after a few iterations: directions of small curvature are left as they are.
#pragma once

#include "harmonium/geometry/metric.h"

namespace harmonium {

class MetricFree final : public Metric {
 public:
  MetricFree(const Topology& topology, const Moments& shape, const MetricOptions& options = {})
      : index_(topology, shape), options_(options) {}
  [[nodiscard]] std::string name() const override { return "metric_free"; }
  void observe(const Observation& observation) override;
  void refit() override {}
  // The solution after at most `iterations` steps, exact when there are as many as distinct eigenvalues.
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override;
  [[nodiscard]] std::int64_t parameter_count() const override { return 0; }

 private:
  StatisticIndex index_;
  MetricOptions options_;
  std::shared_ptr<const ModelStatistics> statistics_;
};

}  // namespace harmonium
