// What a metric may ask about the distribution of the statistics g under the model, whoever knows it: particles drawn
// from it (ParticleStatistics) or an enumeration of its states (DenseStatistics).
#pragma once

#include <utility>

#include "harmonium/core/moments.h"
#include "harmonium/geometry/statistic_index.h"

namespace harmonium {

// For the products m = x y of one edge whose units are not indicators; lower × upper each.
struct ProductMoments {
  at::Tensor with_lower;  // E[m x] = E[x² y]
  at::Tensor with_upper;  // E[m y] = E[x y²]
  at::Tensor square;      // E[m²]  = E[x² y²]
};

struct Eigenpairs {
  at::Tensor values;   // largest first
  at::Tensor vectors;  // dimension × values, orthonormal columns
};

class ModelStatistics {
 public:
  virtual ~ModelStatistics() = default;

  // E[u] and E[u uᵀ] of the unary statistics.
  [[nodiscard]] virtual at::Tensor unary_mean() const = 0;
  [[nodiscard]] virtual at::Tensor unary_second_moment() const = 0;
  [[nodiscard]] virtual ProductMoments product_moments(std::size_t edge) const = 0;
  // E[m u_k] of every product of an edge with the unary statistic k it is given (places in u, lower × upper).
  [[nodiscard]] virtual at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const = 0;
  // E[g] and E[g²], element by element.
  [[nodiscard]] virtual Moments mean() const = 0;
  [[nodiscard]] virtual Moments mean_square() const = 0;
  // Covariance among the statistics at the given places of g.
  [[nodiscard]] virtual at::Tensor covariance(const at::Tensor& places) const = 0;
  // Cov(g) × direction.
  [[nodiscard]] virtual Moments covariance_product(const Moments& direction) const = 0;
  // The largest eigenvalues of Cov(g) and their vectors; fewer where there are not so many.
  [[nodiscard]] virtual Eigenpairs leading_eigenpairs(std::int64_t count) const = 0;
};

}  // namespace harmonium
