// Rectified units with an energy: −E has  bias·x − ½ λ x²  on x ≥ 0, so x | field is N(field / λ, 1/λ) cut at zero
// (half_line.h). Statistics (x, −½x²) with natural parameters (bias, precision).
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Relu final : public Unit {
 public:
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::nonnegative; }
  [[nodiscard]] std::vector<std::string> parameter_names() const override { return {"bias", "precision"}; }
  [[nodiscard]] Parameters neutral_parameters(at::ScalarType type) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
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
