// Categorical (Potts) units: G groups, each one-hot over K states; a group's state has probability ∝ e^field.
//
// The layer's state is one-hot, G·K columns, group by group.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Softmax final : public Unit {
 public:
  Softmax(std::int64_t groups, std::int64_t states) : Unit(groups * states), groups_(groups), states_(states) {}
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::one_hot; }
  [[nodiscard]] std::int64_t classes() const override { return groups_ == 1 ? states_ : 0; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] bool indicator() const override { return true; }
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::optional<double> state_count() const override;
  [[nodiscard]] at::Tensor states(const at::Tensor& numbers, at::ScalarType type) const override;
  [[nodiscard]] Digit digit() const override { return {.values = states_, .columns = states_}; }
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  // rows × width → rows × groups × states.
  [[nodiscard]] at::Tensor grouped(const at::Tensor& x) const { return x.reshape({-1, groups_, states_}); }

  std::int64_t groups_, states_;
};

}  // namespace harmonium
