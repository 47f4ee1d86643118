// Counts without an upper end: p(x | field) = e^{x·field} / (x! e^{e^field}), x = 0, 1, 2, …
//
// Log-partition and mean are e^field; what a value counts for beside its potential is 1/x!. The log-partition grows
// faster than any square, so neighbours must have bounded values. Fields are held below 15 (means of 3 million): above,
// the log-partition goes on as a straight line.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Poisson final : public Unit {
 public:
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::naturals; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_measure(const at::Tensor& state) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] at::Tensor growth(const Parameters& parameters) const override;  // infinite
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;
};

}  // namespace harmonium
