// Independent real values, each from a mixture of C Gaussians or Laplace distributions:
//
//   p(y) = Σ_c α_c k((y − μ_c)/σ_c)/σ_c,   k(z) = e^{−z²/2}/√2π or e^{−|z|}/2,
//   α = softmax(a),   σ = floor + e^s, s at most 7.
//
// raw has 3·C columns for every variable, variable after variable: a, then μ, then s. Values that the net can predict
// exactly would raise the likelihood without limit, so there is always a floor. Laplace: σ is the mean absolute
// deviation of a component, its standard deviation is √2·σ. No path runs through the choice of a component. One
// logsumexp over components a value.
#pragma once

#include "harmonium/distributions/distribution.h"

namespace harmonium {

// What raw columns of mixtures mean, … × N × C each, for 3·C columns of every variable in turn. Others give the last
// two a meaning of their own (logistic_mixture.h).
struct MixtureColumns {
  at::Tensor log_weight, place, width;
};
[[nodiscard]] MixtureColumns mixture_columns(const at::Tensor& raw, std::int64_t variables, std::int64_t components);
// A component drawn for every variable, … × N × 1.
[[nodiscard]] at::Tensor drawn_component(const Key& key, const at::Tensor& log_weight);

class MixtureDistribution final : public Distribution {
 public:
  enum class Kernel { gaussian, laplace };
  static constexpr double usual_floor = 0.01;

  MixtureDistribution(std::int64_t width, std::int64_t components, Kernel kernel, double floor = usual_floor);

  [[nodiscard]] std::int64_t components() const { return components_; }
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] std::string unit_spec() const override;
  [[nodiscard]] std::int64_t raw_width() const override { return 3 * components_ * width(); }
  [[nodiscard]] std::vector<std::int64_t> raw_variables() const override;
  [[nodiscard]] std::shared_ptr<const Distribution> of_one_variable() const override;
  [[nodiscard]] at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& raw) const override;
  // Components of equal weight and width 1/√2, their means spread evenly by ±1.2 around `means`: the variance is about
  // that of a column of deviation 1.
  [[nodiscard]] at::Tensor raw_of_means(const at::Tensor& means) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& value) const override;

 private:
  // … × N × C each.
  struct Parts {
    at::Tensor log_weight, mean, log_deviation;
  };
  [[nodiscard]] Parts parts(const at::Tensor& raw) const;

  std::int64_t components_;
  Kernel kernel_;
  double floor_;
};

}  // namespace harmonium
