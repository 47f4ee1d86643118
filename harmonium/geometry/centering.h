// Centering (Montavon & Müller 2012; Cho, Raiko & Ilin 2011) as a metric.
//
// Regress each product m = x_i y_j on its two units with the coefficients (E y_j, E x_i), unit residual variance, and
// take the units themselves as independent with unit variance. Solving that Gaussian graphical model gives, per edge
// with gradient D, layer gradients d and offsets μ (running means of the model's units):
//   ΔW = D − d_l μ_mᵀ − μ_l d_mᵀ ;   Δbias_l = d_l − Σ_edges ΔW μ_m .
// Determinant one, cost O(weights) per update. Parameters beyond the bias (precisions) are left Euclidean.
#pragma once

#include "harmonium/geometry/metric.h"

namespace harmonium {

struct CenteringOptions {
  double time_scale = 100;  // updates over which the offsets average
};

class Centering final : public Metric {
 public:
  Centering(Topology topology, const Moments& shape, CenteringOptions options = {});
  [[nodiscard]] std::string name() const override { return "centering"; }
  void observe(const Observation& observation) override;
  void refit() override {}
  [[nodiscard]] Direction solve(const Moments& gradient) const override;
  [[nodiscard]] at::Tensor to_dense() const override;
  [[nodiscard]] double log_det() const override { return 0; }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  Topology topology_;
  Moments shape_;
  CenteringOptions options_;
  std::vector<at::Tensor> offsets_;  // one per layer
  bool fresh_ = true;                // nothing observed yet
};

}  // namespace harmonium
