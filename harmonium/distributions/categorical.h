// Values of K states each, one-hot: p(y_v = k | a) = softmax(a_v)_k, raw = a, N·K logits, variable after variable.
//
// The same law as softmax units (units/softmax.h). Rows of probabilities are taken as means of such values. No path
// runs through a draw.
#pragma once

#include "harmonium/distributions/distribution.h"

namespace harmonium {

class CategoricalDistribution final : public Distribution {
 public:
  CategoricalDistribution(std::int64_t variables, std::int64_t states);
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] std::string unit_spec() const override;
  [[nodiscard]] std::int64_t variables() const override { return width() / states_; }
  [[nodiscard]] std::int64_t raw_width() const override { return width(); }
  [[nodiscard]] std::vector<std::int64_t> raw_variables() const override { return value_variables(); }
  [[nodiscard]] std::shared_ptr<const Distribution> of_one_variable() const override;
  [[nodiscard]] at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& raw) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& raw) const override;
  // Logarithms of the means, kept at 0.001 or more.
  [[nodiscard]] at::Tensor raw_of_means(const at::Tensor& means) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& value) const override;

 private:
  // … × N × K.
  [[nodiscard]] at::Tensor grouped(const at::Tensor& columns) const;

  std::int64_t states_;
};

}  // namespace harmonium
