// Gray values of K levels, 0 … K − 1, each from a mixture of C logistic distributions that are rounded to levels
// (Salimans, Karpathy, Chen & Kingma 2017):
//
//   P(x) = Σ_c α_c [σ((x + ½ − μ_c)/s_c) − σ((x − ½ − μ_c)/s_c)],   the first and the last level taking in all beyond,
//   α = softmax(a),   μ = (K − 1) m,   s = 1/40 + (K − 1) e^t, t at most 7.
//
// A value is stored as x/(K − 1), from 0 to 1, as pictures are. raw has 3·C columns for every value, value after value:
// a, then m, then t. These are probabilities of levels, not densities: log P ≤ 0, and nothing is gained by a narrower s
// than the smallest one, which gives a level e^{−20} less than all.
//
// The logarithm has no cancellation however far x lies from μ, by σ(u) − σ(v) = σ(u) σ(−v) (1 − e^{v − u}). Values are
// rounded to the nearest level, so that there is no derivative in them. No path runs through a draw. A value costs one
// logsumexp over components, its mean K − 1 of them.
#pragma once

#include "harmonium/distributions/distribution.h"

namespace harmonium {

class LogisticMixtureDistribution final : public Distribution {
 public:
  static constexpr std::int64_t usual_components = 5, most_levels = 65536;

  LogisticMixtureDistribution(std::int64_t width, std::int64_t levels, std::int64_t components = usual_components);

  [[nodiscard]] std::int64_t levels() const { return levels_; }
  [[nodiscard]] std::int64_t components() const { return components_; }
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] std::string unit_spec() const override;
  [[nodiscard]] std::int64_t raw_width() const override { return 3 * components_ * width(); }
  [[nodiscard]] std::vector<std::int64_t> raw_variables() const override;
  [[nodiscard]] std::shared_ptr<const Distribution> of_one_variable() const override;
  [[nodiscard]] at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& raw) const override;
  // Exact: Σ_x x P(x) = Σ_{x ≥ 1} P(at least x).
  [[nodiscard]] at::Tensor mean(const at::Tensor& raw) const override;
  // Components of equal weight and scale 1/10 of the range, their places spread evenly by ±0.2 around `means`.
  [[nodiscard]] at::Tensor raw_of_means(const at::Tensor& means) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& value) const override;

 private:
  // … × N × C each, in levels.
  struct Parts {
    at::Tensor log_weight, place, log_scale;
  };
  [[nodiscard]] Parts parts(const at::Tensor& raw) const;

  std::int64_t levels_, components_;
};

}  // namespace harmonium
