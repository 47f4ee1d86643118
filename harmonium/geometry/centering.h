// Centering (Montavon & Müller 2012) and the enhanced gradient (Cho, Raiko & Ilin 2011) as metrics.
//
// Regress each product m = x_i y_j on its two units with the coefficients (E y_j, E x_i), unit residual variance, and
// take the units themselves as independent with unit variance. Solving that Gaussian graphical model gives, per edge
// with gradient D, layer gradients d and offsets μ:
//   ΔW = D − d_l μ_mᵀ − μ_l d_mᵀ ;   Δbias_l = d_l − Σ_edges ΔW μ_m .
// Offsets are running means of the model's units; the enhanced gradient takes the average of this update's data and
// model means, which makes ΔW the difference of two covariances. Determinant one, cost O(weights) per update.
// Parameters beyond the bias (precisions) are left Euclidean. With `fit_variances` the variances of units and of
// residuals are fitted too: the best Fisher approximation with these coefficients, to compare others with.
#pragma once

#include "harmonium/geometry/factorized_gaussian.h"
#include "harmonium/geometry/running_average.h"

namespace harmonium {

struct CenteringOptions {
  double time_scale = 100;  // updates over which the offsets average
  bool enhanced = false;    // offsets half from the data
  bool fit_variances = false;
  double damping = 0;  // added to every variance that is fitted
};

class Centering final : public Metric {
 public:
  Centering(const Topology& topology, const Moments& shape, CenteringOptions options = {});
  [[nodiscard]] std::string name() const override { return options_.enhanced ? "enhanced" : "centering"; }
  [[nodiscard]] bool wants_statistics() const override { return options_.fit_variances; }
  void observe(const Observation& observation) override;
  void refit() override {}
  [[nodiscard]] Direction solve(const Moments& gradient) const override { return gaussian_.solve(gradient); }
  [[nodiscard]] const FactorizedGaussian* factorized() const override { return &gaussian_; }
  [[nodiscard]] at::Tensor to_dense() const override { return gaussian_.to_dense(); }
  [[nodiscard]] double log_det() const override { return gaussian_.log_det(); }
  [[nodiscard]] std::int64_t parameter_count() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  void set_coefficients();
  void fit_variances(const ModelStatistics& statistics);

  CenteringOptions options_;
  FactorizedGaussian gaussian_;
  std::vector<RunningAverage> offsets_;  // one per layer
};

}  // namespace harmonium
