// Statistics of a fully visible model of indicators, from its moments alone: all pairs of units are among them.
//
// E[x_i x_j] is the moment of their edge, and E[x_i · x_i x_j] the same again: what FANG, centering and the diagonal
// ask for. Moments of more than two units are not known, so the others are refused.
#pragma once

#include "harmonium/geometry/model_statistics.h"

namespace harmonium {

class PairStatistics final : public ModelStatistics {
 public:
  // Whether a machine has one layer, of indicators, with an edge inside.
  [[nodiscard]] static bool serves(const Topology& topology);
  PairStatistics(const Topology& topology, Moments moments);

  [[nodiscard]] at::Tensor unary_mean() const override;
  [[nodiscard]] at::Tensor unary_second_moment() const override;
  [[nodiscard]] ProductMoments product_moments(std::size_t edge) const override;
  [[nodiscard]] at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const override;
  [[nodiscard]] Moments mean() const override { return moments_; }
  [[nodiscard]] Moments mean_square() const override { return moments_; }
  [[nodiscard]] at::Tensor covariance(const at::Tensor& places) const override;
  [[nodiscard]] Moments covariance_product(const Moments& direction) const override;
  [[nodiscard]] Eigenpairs leading_eigenpairs(std::int64_t count) const override;

 private:
  Topology topology_;
  Moments moments_;
};

}  // namespace harmonium
