// Factorized natural gradient, FANG (Grosse & Salakhutdinov, "Scaling up natural gradient by sparsely factorizing the
// inverse Fisher matrix", ICML 2015).
//
// A Gaussian graphical model of the statistics: unary statistics with a dense covariance, and every product x_i y_j of
// an edge regressed on its two units (see FactorizedGaussian). For indicators (binary and softmax units) all follows
// from p = E x, q = E y, r = E xy:
//   Var x = p(1−p), Var y = q(1−q), Cov(x,y) = r − pq, Cov(m,x) = r(1−p), Cov(m,y) = r(1−q), Var m = r(1−r);
// for other units the same regressions take E[x²y], E[xy²] and E[x²y²], one matrix product each.
//
// Damping is added to the diagonal of Σ_u and of each 3 × 3 covariance: of (x, y, m) in the paper, and by default of
// (x, y, (x−p)(y−q)). Without damping the two are the same regression. With it the paper's form depends on which of a
// unit's values is called one (turning units round changed the likelihood a small model reached by 0.05 nats), the
// centered form does not.
//
// Cost: observe, two products of rows × u²; refit O(|u|³); solve O(weights + |u|²). With random parents (the control of
// the paper) each product is regressed on a random unit of either layer instead: as many parameters, none of the
// structure.
#pragma once

#include "harmonium/geometry/factorized_gaussian.h"
#include "harmonium/geometry/running_average.h"

namespace harmonium {

enum class FangParents { own, random };

class Fang final : public Metric {
 public:
  Fang(const Topology& topology, const Moments& shape, const MetricOptions& options = {},
       FangParents parents = FangParents::own);
  [[nodiscard]] std::string name() const override { return parents_ == FangParents::own ? "fang" : "fang_random"; }
  [[nodiscard]] Cadence cadence() const override { return {options_.statistics_every, options_.refit_every}; }
  void observe(const Observation& observation) override;
  // A covariance that is not positive definite is damped ten times more, as often as it takes, and noted.
  void refit() override;
  [[nodiscard]] Direction solve(const Moments& gradient) const override { return gaussian_.solve(gradient); }
  [[nodiscard]] bool wants_moments() const override { return false; }
  [[nodiscard]] const FactorizedGaussian* factorized() const override {
    return parents_ == FangParents::own ? &gaussian_ : nullptr;
  }
  [[nodiscard]] at::Tensor to_dense() const override { return gaussian_.to_dense(); }
  [[nodiscard]] double log_det() const override { return gaussian_.log_det(); }
  [[nodiscard]] std::int64_t parameter_count() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  // Running moments of the products of an edge, beyond what unary second moments tell.
  struct EdgeStatistics {
    at::Tensor first_parent, second_parent;          // places in u; undefined for a product's own units
    RunningAverage with_first, with_second, square;  // E[m · parent], E[m²]; empty where r says it
  };

  [[nodiscard]] bool indicators(std::size_t edge) const;
  [[nodiscard]] bool fit(double damping);
  [[nodiscard]] Regression regress(std::size_t edge, double damping) const;

  MetricOptions options_;
  FangParents parents_;
  FactorizedGaussian gaussian_;
  RunningAverage mean_, second_moment_;  // of the unary statistics
  std::vector<EdgeStatistics> edges_;
};

}  // namespace harmonium
