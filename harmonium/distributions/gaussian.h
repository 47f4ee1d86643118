// Independent real values: y_j ~ N(μ_j, σ_j²), raw = (μ, s).
//
//   σ = e^s with s kept in [−7, 7]   without a floor: latent variables,
//   σ = floor + e^s, s at most 7     with one: data. Its derivative never vanishes, as that of a clamp would.
//
// s has a column for every μ, or, shared, one column in all that is a parameter of the model. Without a floor a column
// of the data that never changes would raise the likelihood without limit, so data need one.
//
//   log p = Σ_j −½((y_j − μ_j)/σ_j)² − log σ_j − ½ log 2π,   path y = μ + σ ε, ε ~ N(0, 1),
//   KL_j = log(σ'_j/σ_j) + (σ_j² + (μ_j − μ'_j)²)/2σ'_j² − ½;  against raw' = 0, N(0, 1): ½(μ² + σ² − 1) − log σ.
#pragma once

#include "harmonium/distributions/distribution.h"

namespace harmonium {

class GaussianDistribution final : public Distribution {
 public:
  enum class Deviation { per_column, shared };

  // `floor` 0: none.
  explicit GaussianDistribution(std::int64_t width, Deviation deviation = Deviation::per_column, double floor = 0);

  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] std::string unit_spec() const override;
  [[nodiscard]] std::int64_t raw_width() const override { return width() + deviations(); }
  [[nodiscard]] std::int64_t shared_width() const override { return deviation_ == Deviation::shared ? 1 : 0; }
  // log σ, … × width or, shared, … × 1.
  [[nodiscard]] at::Tensor log_deviation(const at::Tensor& raw) const;

  // −E log p of every column, ½ log 2πe + log σ: … × width.
  [[nodiscard]] at::Tensor entropy_each(const at::Tensor& raw) const;

  [[nodiscard]] std::vector<std::int64_t> raw_variables() const override;
  [[nodiscard]] std::shared_ptr<const Distribution> of_one_variable() const override;
  [[nodiscard]] at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& raw) const override;
  [[nodiscard]] bool reparametrizable() const override { return true; }
  [[nodiscard]] at::Tensor reparametrized(const Key& key, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& raw) const override;
  [[nodiscard]] std::optional<at::Tensor> kl(const at::Tensor& raw, const at::Tensor& other) const override;
  // The means and, where the net puts them out, s = 0.
  [[nodiscard]] at::Tensor raw_of_means(const at::Tensor& means) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& value) const override;
  [[nodiscard]] std::string complaint_as_output() const override;

 private:
  [[nodiscard]] std::int64_t deviations() const { return deviation_ == Deviation::shared ? 1 : width(); }

  Deviation deviation_;
  double floor_;
};

}  // namespace harmonium
