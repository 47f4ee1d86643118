// N binary units of which at most k are on at a time (Swersky et al. 2012): p(x | field) ∝ e^{field·x} for all x with
// Σ x_j ≤ k. k = 1 is a softmax with an off state; k = N would be independent binary units, and make_unit() makes
// those.
//
// Sums over all states are O(N k): with S_j(r) the log-sum over units j … N of which at most r are on,
//   S_j(r) = log(e^{S_{j+1}(r)} + e^{field_j + S_{j+1}(r−1)}),   S_{N+1} = 0,   log-partition S_1(k).
// Units are a Markov chain whose state r is how many more may be on: unit j is on with probability
// P_j(r) = e^{field_j + S_{j+1}(r−1) − S_j(r)}. Draws walk along it, means and covariances carry its distribution
// along. On the CPU kernels/budget_walk.h does so with products; other devices, covariances and huge fields take
// logarithms.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Cardinality final : public Unit {
 public:
  Cardinality(std::int64_t width, std::int64_t most) : Unit(width), most_(most) {}
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
  // The layer as a whole, with at most 2^62 values.
  [[nodiscard]] Digit digit() const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  std::int64_t most_;
};

}  // namespace harmonium
