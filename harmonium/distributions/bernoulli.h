// Binary values: p(y = 1 | a) = σ(a), log p(y | a) = Σ_j y_j a_j + log σ(−a_j). raw = a, the log-odds.
//
// The same law as the unit of that name (units/bernoulli.h), whose draws it repeats key by key. Values between 0 and 1
// are taken as means of such values. No path runs through a draw. KL = σ(a)(a − b) + log σ(−a) − log σ(−b).
#pragma once

#include "harmonium/distributions/distribution.h"

namespace harmonium {

class BernoulliDistribution final : public Distribution {
 public:
  using Distribution::Distribution;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] std::string unit_spec() const override { return spec(); }
  [[nodiscard]] std::int64_t raw_width() const override { return width(); }
  [[nodiscard]] std::vector<std::int64_t> raw_variables() const override;
  [[nodiscard]] std::shared_ptr<const Distribution> of_one_variable() const override;
  [[nodiscard]] at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& raw) const override;
  [[nodiscard]] std::optional<at::Tensor> kl(const at::Tensor& raw, const at::Tensor& other) const override;
  // Log-odds of the means, clipped to [0.001, 0.999]: a pixel that was always black may yet be white.
  [[nodiscard]] at::Tensor raw_of_means(const at::Tensor& means) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& value) const override;
};

}  // namespace harmonium
