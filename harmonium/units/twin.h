// Two copies of a binary unit that see the same field, known by their mean x ∈ {0, ½, 1}: each copy is on with
// probability σ(field / 2), so that E[x] = σ(field / 2) and the log-partition is Σ 2 log(1 + e^{field / 2}).
//
// What the RBMs are made of that a deep Boltzmann machine is pretrained with (models/pretrained_chain.h). There are two
// ways to x = ½ and one to 0 or 1: probabilities, entropies and potentials are relative to that measure, as those of
// continuous units are to volume, and states are not enumerated. Values 0 and 1 (data) have measure one.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Twin final : public Unit {
 public:
  using Unit::sample;
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::halves; }
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;
};

}  // namespace harmonium
