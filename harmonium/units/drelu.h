// Double rectified units: −E has  bias·x − Δ|x| − ½γ₊x² for x > 0 and − ½γ₋x² for x < 0. Two half lines (half_line.h)
// beside each other: with fields field − Δ to the right and −field − Δ to the left, the log-partition is the log of the
// sum of their integrals. A threshold Δ > 0 keeps small inputs near zero, Δ < 0 keeps x away from it.
//
// Statistics (x, −|x|, −½x² where x > 0, −½x² where x < 0), natural parameters (bias, threshold, precision_right,
// precision_left).
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class DRelu final : public Unit {
 public:
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::reals; }
  [[nodiscard]] std::vector<std::string> parameter_names() const override {
    return {"bias", "threshold", "precision_right", "precision_left"};
  }
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
