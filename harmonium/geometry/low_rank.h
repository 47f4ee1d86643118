// Low rank plus isotropic: the r leading eigenpairs of the Fisher information, all other eigenvalues replaced by their
// mean.  Ĝ = V (Λ − c I) Vᵀ + c I. Rank zero is the best multiple of the identity.
#pragma once

#include "harmonium/geometry/metric.h"

namespace harmonium {

class LowRank final : public Metric {
 public:
  LowRank(const Topology& topology, const Moments& shape, const MetricOptions& options = {})
      : index_(topology, shape), options_(options) {}
  [[nodiscard]] std::string name() const override { return "low_rank"; }
  // Eigenvectors cannot be averaged: they are taken from the newest observation.
  [[nodiscard]] Cadence cadence() const override { return {options_.refit_every, options_.refit_every}; }
  void observe(const Observation& observation) override;
  void refit() override {}
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override;
  [[nodiscard]] std::int64_t parameter_count() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  StatisticIndex index_;
  MetricOptions options_;
  at::Tensor values_, vectors_, rest_;  // damped eigenvalues; rest: a scalar
};

}  // namespace harmonium
