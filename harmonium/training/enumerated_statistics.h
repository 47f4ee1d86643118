// Statistics of a model by enumeration of its states, computed when a metric first asks for one.
#pragma once

#include <optional>

#include "harmonium/geometry/dense_statistics.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Fails, with advice, when a machine is too large for that to be done at every observation.
void require_enumerable(const BoltzmannMachine& machine);

class EnumeratedStatistics final : public ModelStatistics {
 public:
  // The machine's parameters at the first question are what is described.
  explicit EnumeratedStatistics(const BoltzmannMachine& machine) : machine_(machine) {}

  [[nodiscard]] at::Tensor unary_mean() const override { return dense().unary_mean(); }
  [[nodiscard]] at::Tensor unary_second_moment() const override { return dense().unary_second_moment(); }
  [[nodiscard]] ProductMoments product_moments(std::size_t edge) const override {
    return dense().product_moments(edge);
  }
  [[nodiscard]] at::Tensor product_moment_with(std::size_t edge, const at::Tensor& places) const override {
    return dense().product_moment_with(edge, places);
  }
  [[nodiscard]] Moments mean() const override { return dense().mean(); }
  [[nodiscard]] Moments mean_square() const override { return dense().mean_square(); }
  [[nodiscard]] at::Tensor covariance(const at::Tensor& places) const override { return dense().covariance(places); }
  [[nodiscard]] Moments covariance_product(const Moments& direction) const override {
    return dense().covariance_product(direction);
  }
  [[nodiscard]] Eigenpairs leading_eigenpairs(std::int64_t count) const override {
    return dense().leading_eigenpairs(count);
  }

 private:
  [[nodiscard]] const DenseStatistics& dense() const;

  BoltzmannMachine machine_;
  mutable std::optional<DenseStatistics> dense_;
};

}  // namespace harmonium
