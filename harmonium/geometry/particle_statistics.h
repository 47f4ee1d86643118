// Statistics of a model estimated from particles: averages over rows.
//
// Means and second moments of the unary statistics use rows in which one block of layers stands by its conditional
// expectation (less noise); all else uses the drawn states. Nothing is computed before it is asked for.
#pragma once

#include <functional>
#include <optional>

#include "harmonium/core/particles.h"
#include "harmonium/geometry/model_statistics.h"

namespace harmonium {

// How to get rows: as drawn, and with a block by its expectation.
struct ParticleSource {
  std::function<Particles()> drawn, expected;
};

class ParticleStatistics : public ModelStatistics {
 public:
  ParticleStatistics(const Topology& topology, const Moments& shape, ParticleSource source)
      : index_(topology, shape), source_(std::move(source)) {}

  [[nodiscard]] at::Tensor unary_mean() const override;
  [[nodiscard]] at::Tensor unary_second_moment() const override;
  [[nodiscard]] ProductMoments product_moments(std::size_t edge) const override;
  [[nodiscard]] at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const override;
  [[nodiscard]] Moments mean() const override;
  [[nodiscard]] Moments mean_square() const override;
  [[nodiscard]] at::Tensor covariance(const at::Tensor& places) const override;
  [[nodiscard]] Moments covariance_product(const Moments& direction) const override;
  [[nodiscard]] Eigenpairs leading_eigenpairs(std::int64_t count) const override;

  [[nodiscard]] std::int64_t rows() const { return drawn().rows(); }
  // g_n · direction of every row, and Σ_n weight_n g_n: all that products with Cov(g) need, without forming g.
  [[nodiscard]] at::Tensor project(const Moments& direction) const;
  [[nodiscard]] Moments combine(const at::Tensor& weights) const;

 private:
  [[nodiscard]] const Particles& drawn() const;
  [[nodiscard]] const Particles& expected() const;
  [[nodiscard]] at::Tensor values(const Particles& particles, std::size_t layer) const;
  [[nodiscard]] at::Tensor squares(const Particles& particles, std::size_t layer) const;

  StatisticIndex index_;
  ParticleSource source_;
  mutable std::optional<Particles> drawn_, expected_;
};

}  // namespace harmonium
