// Noisy rectified linear units (Nair & Hinton 2010): drawn as max(0, field + √σ(field)·ε), ε ~ N(0, 1), with mean
// log(1 + e^field). They imitate stepped units of many copies at the price of one draw, and are no exponential family
// of their own: contrastive divergence trains with them, and whoever asks for probabilities or samples of the model
// gets those of the stepped units they stand for.
#pragma once

#include "harmonium/units/stepped.h"

namespace harmonium {

class NRelu final : public Stepped {
 public:
  explicit NRelu(std::int64_t width) : Stepped(width) {}
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::nonnegative; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] std::shared_ptr<const Unit> stands_for() const override;
  // Values have no steps.
  [[nodiscard]] std::optional<double> state_count() const override { return std::nullopt; }
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;
};

}  // namespace harmonium
