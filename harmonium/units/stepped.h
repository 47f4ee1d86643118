// Stepped units (Nair & Hinton 2010): M binary copies that see the same field with offsets −½, −3/2, …, known by how
// many of them are on, x ∈ {0, …, M}.
//
// Log-partition Σ_{i ≤ M} log(1 + e^{field − i + ½}), mean Σ σ(field − i + ½). What a value x counts for is the sum
// over the ways to switch x copies on, ψ(x) = e_x(e^{−½}, e^{−3/2}, …), the elementary symmetric polynomial. For large
// M the mean is log(1 + e^field) to within 0.011 and the variance σ(field) to within 0.005.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Stepped : public Unit {
 public:
  static constexpr std::int64_t usual_copies = 64;
  explicit Stepped(std::int64_t width, std::int64_t copies = usual_copies);
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::naturals; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_measure(const at::Tensor& state) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  // 1 as long as the field is below M: what keeps neighbours without bounds from growing until then.
  [[nodiscard]] at::Tensor growth(const Parameters& parameters) const override;
  [[nodiscard]] std::optional<double> state_count() const override;
  [[nodiscard]] at::Tensor states(const at::Tensor& numbers, at::ScalarType type) const override;
  [[nodiscard]] Digit digit() const override { return {.values = copies_ + 1, .columns = 1}; }
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 protected:
  [[nodiscard]] std::int64_t copies() const { return copies_; }

 private:
  std::int64_t copies_;
  at::Tensor log_ways_;  // log ψ(0 … M), float64
};

}  // namespace harmonium
