// Binary units x ∈ {0, 1}: p(x = 1 | field) = σ(field), log-partition Σ log(1 + e^field).
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Bernoulli final : public Unit {
 public:
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::bits; }
  [[nodiscard]] std::optional<Activation> activation() const override { return Activation::logistic; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const AnnealedField& field) const override;
  [[nodiscard]] CodedTable sample(const Key& key, const ProductField& field, const Parameters& parameters,
                                  at::Tensor* total) const override;
  [[nodiscard]] at::Tensor anneal(const Key& key, const AnnealedField& before, const AnnealedField& after,
                                  at::Tensor& log_weights) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor pair_log_partitions(const at::Tensor& first, const at::Tensor& second,
                                               const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] bool indicator() const override { return true; }
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::optional<double> state_count() const override;
  [[nodiscard]] at::Tensor states(const at::Tensor& numbers, at::ScalarType type) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;
};

}  // namespace harmonium
