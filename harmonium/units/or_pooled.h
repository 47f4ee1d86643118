// G groups of n free binary detectors and a pooling unit that says whether any of them is on: columns of a group are
// d_1 … d_n and p = max d. With Q = Π(1 + e^{field of d_i}) and T the field of p a group sums to 1 + e^T (Q − 1):
//   P(p = 1) = σ(T + log(Q − 1)),   E[d_i] = a σ(field_i),   E[d_i d_j] = a σ(field_i) σ(field_j),   a = e^T Q / sum.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class OrPooled final : public Unit {
 public:
  OrPooled(std::int64_t groups, std::int64_t size) : Unit(groups * (size + 1)), groups_(groups), size_(size) {}
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
  [[nodiscard]] Digit digit() const override { return {.values = std::int64_t{1} << size_, .columns = size_ + 1}; }
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

  static constexpr std::int64_t most_detectors = 30;

 private:
  // What a group's columns say, in float64: rows × groups × n, and rows × groups.
  struct Groups {
    at::Tensor detectors, pool;
  };
  [[nodiscard]] Groups groups_of(const at::Tensor& x) const;
  [[nodiscard]] at::Tensor joined(const at::Tensor& detectors, const at::Tensor& pool) const;

  std::int64_t groups_, size_;
};

}  // namespace harmonium
