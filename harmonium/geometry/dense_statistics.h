// Statistics of a model whose mean and whole Fisher information are known, as after enumeration: a matrix to read from.
#pragma once

#include "harmonium/geometry/model_statistics.h"

namespace harmonium {

class DenseStatistics final : public ModelStatistics {
 public:
  // `covariance` is Cov(g), dimension × dimension, in the order of Moments::flatten().
  DenseStatistics(const Topology& topology, const Moments& mean, at::Tensor covariance);

  [[nodiscard]] at::Tensor unary_mean() const override;
  [[nodiscard]] at::Tensor unary_second_moment() const override;
  [[nodiscard]] ProductMoments product_moments(std::size_t edge) const override;
  [[nodiscard]] at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const override;
  [[nodiscard]] Moments mean() const override { return mean_; }
  [[nodiscard]] Moments mean_square() const override;
  [[nodiscard]] at::Tensor covariance(const at::Tensor& places) const override;
  [[nodiscard]] Moments covariance_product(const Moments& direction) const override;
  // By subspace iteration where the matrix is too large to be decomposed as a whole. Kept for the next question.
  [[nodiscard]] Eigenpairs leading_eigenpairs(std::int64_t count) const override;

  // All pairs that were found on the way: every one of a small matrix.
  [[nodiscard]] const Eigenpairs& known_eigenpairs() const { return known_pairs_; }
  [[nodiscard]] const at::Tensor& covariance() const { return covariance_; }

 private:
  // E[g_a g_b] at places of g that are given in pairs.
  [[nodiscard]] at::Tensor second_moments(const at::Tensor& a, const at::Tensor& b) const;

  StatisticIndex index_;
  Moments mean_;
  at::Tensor flat_mean_, covariance_;
  mutable Eigenpairs known_pairs_;
};

}  // namespace harmonium
