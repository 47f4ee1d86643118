// Real units with a precision λ > 0: −E has  bias·x − ½ λ x²,  so x | field ~ N(field / λ, 1/λ). Precisions are learnt
// for each unit ("gaussian:N"), are learnt in common ("gaussian:N:scalar") or are 1 ("gaussian:N:fixed").
//
// Statistics (x, −½x²) with natural parameters (bias, precision); log-partition Σ ½ field²/λ + ½ log(2π/λ).
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

// Standard deviations above 1/√smallest ≈ 30 data units mean a layer that is not standardized or a step too large.
inline constexpr double smallest_precision = 1e-3;

class Gaussian final : public Unit {
 public:
  enum class Precision { diagonal, scalar, fixed };
  explicit Gaussian(std::int64_t width, Precision precision = Precision::diagonal)
      : Unit(width), precision_(precision) {}
  [[nodiscard]] Precision precision() const { return precision_; }
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::reals; }
  [[nodiscard]] std::optional<Activation> activation() const override { return Activation::linear; }
  [[nodiscard]] at::Tensor activation_divisor(const Parameters& parameters) const override { return parameters[1]; }
  [[nodiscard]] std::vector<std::string> parameter_names() const override { return {"bias", "precision"}; }
  [[nodiscard]] Parameters neutral_parameters(at::ScalarType type) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_potential(const at::Tensor& state, const Parameters& parameters) const override;
  [[nodiscard]] std::vector<at::Tensor> statistics(const at::Tensor& state) const override;
  [[nodiscard]] std::vector<at::Tensor> expected_statistics(const at::Tensor& field,
                                                            const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::optional<Grid> grid(const at::Tensor& low, const at::Tensor& high,
                                         const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor growth(const Parameters& parameters) const override;
  void constrain_(Parameters& parameters) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  Precision precision_;
};

}  // namespace harmonium
