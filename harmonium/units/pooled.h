// Probabilistic max pooling (Lee et al. 2009): G groups of n binary units, at most one of each group on. A group's
// state has probability ∝ e^field of the unit that is on, or 1 where none is; what a pooling unit would say is the
// group's sum. Log-partition Σ_groups log(1 + Σ_i e^{field_i}).
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Pooled final : public Unit {
 public:
  Pooled(std::int64_t groups, std::int64_t size) : Unit(groups * size), groups_(groups), size_(size) {}
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::linked_bits; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] bool indicator() const override { return true; }
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::optional<double> state_count() const override;
  [[nodiscard]] at::Tensor states(const at::Tensor& numbers, at::ScalarType type) const override;
  [[nodiscard]] Digit digit() const override { return {.values = size_ + 1, .columns = size_}; }
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  // rows × groups × (1 + n): "none" first, with field 0.
  [[nodiscard]] at::Tensor choices(const at::Tensor& field) const;
  // The columns of the units from such a table.
  [[nodiscard]] at::Tensor units(const at::Tensor& choices) const;

  std::int64_t groups_, size_;
};

}  // namespace harmonium
