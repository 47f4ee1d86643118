// One dense block per upper unit of the edges: the covariance of its bias and of all weights that enter it from below;
// what is left of the unary statistics forms one block per layer.
//
// For an RBM: a block of N_v + 1 for every hidden unit, and the visible biases. Memory (N_v + 1)² N_h, so for small
// machines; larger ones are refused with the size they would need.
#pragma once

#include "harmonium/geometry/metric.h"
#include "harmonium/geometry/running_average.h"

namespace harmonium {

class BlockDiagonal final : public Metric {
 public:
  BlockDiagonal(const Topology& topology, const Moments& shape, const MetricOptions& options = {});
  [[nodiscard]] std::string name() const override { return "block_diagonal"; }
  [[nodiscard]] Cadence cadence() const override { return {options_.statistics_every, options_.refit_every}; }
  void observe(const Observation& observation) override;
  void refit() override;
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override;
  [[nodiscard]] std::int64_t parameter_count() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  struct Block {
    at::Tensor places;  // in g
    RunningAverage covariance;
    at::Tensor factor;
  };

  StatisticIndex index_;
  MetricOptions options_;
  std::vector<Block> blocks_;
};

}  // namespace harmonium
