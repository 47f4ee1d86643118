// The diagonal metric: every statistic divided by its variance (plus damping), as if all were independent.
#pragma once

#include "harmonium/geometry/factorized_gaussian.h"
#include "harmonium/geometry/running_average.h"

namespace harmonium {

class Diagonal final : public Metric {
 public:
  Diagonal(const Topology& topology, const Moments& shape, const MetricOptions& options = {})
      : options_(options), gaussian_(topology, shape) {}
  [[nodiscard]] std::string name() const override { return "diagonal"; }
  [[nodiscard]] Cadence cadence() const override { return {options_.statistics_every, options_.refit_every}; }
  void observe(const Observation& observation) override;
  void refit() override;
  [[nodiscard]] Direction solve(const Moments& gradient) const override { return gaussian_.solve(gradient); }
  [[nodiscard]] at::Tensor to_dense() const override { return gaussian_.to_dense(); }
  [[nodiscard]] double log_det() const override { return gaussian_.log_det(); }
  [[nodiscard]] std::int64_t parameter_count() const override { return gaussian_.index().dimension(); }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  MetricOptions options_;
  FactorizedGaussian gaussian_;
  RunningAverage mean_, mean_square_;  // of all statistics, flat
};

}  // namespace harmonium
