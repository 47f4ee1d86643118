// Spike-and-slab units (Courville et al. 2011): a value is 0 (the spike is off) or normal (the slab), x = h·s.
//
// −E has  bias·x − ½ α x² + ζ [x ≠ 0]. Given the field r a unit is on with probability
// σ(ζ + ½ log(2π/α) + r²/2α), and then N(r/α, 1/α); log-partition log(1 + e^{ζ + r²/2α} √(2π/α)). Statistics
// (x, −½x², [x ≠ 0]), natural parameters (bias, precision, spike). With Gaussian neighbours this is the spike-and-slab
// RBM: bias = αμ, and the papers' b = ζ + ½ log(2π/α) + ½αμ².
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class SpikeSlab final : public Unit {
 public:
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::reals; }
  [[nodiscard]] std::vector<std::string> parameter_names() const override { return {"bias", "precision", "spike"}; }
  [[nodiscard]] Parameters neutral_parameters(at::ScalarType type) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  // 0 where the spike is more probably off, else the middle of the slab.
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_potential(const at::Tensor& state, const Parameters& parameters) const override;
  [[nodiscard]] std::vector<at::Tensor> statistics(const at::Tensor& state) const override;
  [[nodiscard]] std::vector<at::Tensor> expected_statistics(const at::Tensor& field,
                                                            const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] at::Tensor growth(const Parameters& parameters) const override;
  void constrain_(Parameters& parameters) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;
};

}  // namespace harmonium
