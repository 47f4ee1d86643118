// A Gaussian graphical model of the statistics g, sparse enough to solve in O(weights) per gradient.
//
// The unary statistics u are jointly Gaussian with covariance Σ_u (identity, diagonal or dense); every product m of an
// edge is a linear regression on two of them,  m = c + α x + β y + noise,  Var(noise) = s². Its covariance is
//   Ĝ = [ Σ_u      Σ_u Bᵀ          ]    B: one row per product, α and β in the columns of its parents
//       [ B Σ_u    B Σ_u Bᵀ + S    ]    S = diag(s²)
// and with a gradient (d, D):  ρ = D − B d;  ΔW = S⁻¹ ρ;  Δu = Σ_u⁻¹ d − Bᵀ ΔW;  log det Ĝ = log det Σ_u + Σ log s².
// FANG (Grosse & Salakhutdinov 2015), centering and the diagonal are choices of Σ_u, B and S.
#pragma once

#include "harmonium/geometry/metric.h"
#include "harmonium/geometry/statistic_index.h"

namespace harmonium {

// Of the products of one edge, lower × upper. Coefficients may be rows (1 × upper) or columns (lower × 1) that repeat.
struct Regression {
  at::Tensor on_first, on_second;          // α, β; undefined: the products have no parents
  at::Tensor variance;                     // s²; undefined: one
  at::Tensor first_parent, second_parent;  // places in u; undefined: the product's own two units, lower and upper
};

class FactorizedGaussian {
 public:
  FactorizedGaussian(const Topology& topology, const Moments& shape);

  [[nodiscard]] const StatisticIndex& index() const { return index_; }
  // Σ_u: undefined for the identity, a vector of variances, or a lower Cholesky factor.
  void set_unary(at::Tensor variances_or_factor);
  void set_regression(std::size_t edge, Regression regression);

  [[nodiscard]] const at::Tensor& unary() const { return unary_; }
  [[nodiscard]] const Regression& regression(std::size_t edge) const { return regressions_[edge]; }
  // 1/s²; undefined: one.
  [[nodiscard]] const at::Tensor& precision(std::size_t edge) const { return precision_[edge]; }

  [[nodiscard]] Direction solve(const Moments& gradient) const;
  [[nodiscard]] at::Tensor to_dense() const;  // float64
  [[nodiscard]] double log_det() const;

  // Fitted tensors, for a checkpoint.
  [[nodiscard]] NamedTensors state() const;
  void restore(const NamedTensors& tensors);

 private:
  [[nodiscard]] at::Tensor solve_unary(const at::Tensor& gradient) const;
  // Takes one edge's part Bᵀ ΔW from `unary` and returns ΔW.
  [[nodiscard]] at::Tensor solve_edge(std::size_t edge, const at::Tensor& weights, const at::Tensor& unary_gradient,
                                      at::Tensor& unary) const;
  [[nodiscard]] at::Tensor layer_part(const at::Tensor& unary, std::size_t layer) const;

  StatisticIndex index_;
  at::Tensor unary_;
  std::vector<Regression> regressions_;
  std::vector<at::Tensor> precision_;  // 1/s², so that a step multiplies
};

}  // namespace harmonium
