// Spike-and-slab units (Courville et al. 2011): a value is 0 (the spike is off) or normal (the slab), x = h·s. With
// several slabs a spike gates a group of K values, which are all 0 or all normal.
//
// −E has  bias·x − ½ α x² + ζ [x ≠ 0]. Given the field r the spike of a group is on with probability
// σ(ζ + Σ_k [½ log(2π/α_k) + r_k²/2α_k]), and then x_k ~ N(r_k/α_k, 1/α_k); log-partition of the group
// log(1 + e^ζ Π_k e^{r_k²/2α_k} √(2π/α_k)). Statistics (x, −½x², [x ≠ 0]), natural parameters (bias, precision, spike);
// the third statistic of a group, and its ζ, stand in the group's first column, and the other columns have 0 there.
// With Gaussian neighbours this is the spike-and-slab RBM: bias = αμ, and the papers' b = ζ + Σ ½ log(2π/α) + ½αμ².
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class SpikeSlab final : public Unit {
 public:
  // Spikes, and slabs of each.
  explicit SpikeSlab(std::int64_t spikes, std::int64_t slabs = 1)
      : Unit(spikes * slabs), spikes_(spikes), slabs_(slabs) {}
  [[nodiscard]] std::int64_t spikes() const { return spikes_; }
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::reals; }
  [[nodiscard]] std::vector<std::string> parameter_names() const override { return {"bias", "precision", "spike"}; }
  [[nodiscard]] Parameters neutral_parameters(at::ScalarType type) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  using Unit::sample;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  // 0 where the spike is more probably off, else the middle of the slab.
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_potential(const at::Tensor& state, const Parameters& parameters) const override;
  [[nodiscard]] std::vector<at::Tensor> statistics(const at::Tensor& state) const override;
  [[nodiscard]] std::vector<at::Tensor> expected_statistics(const at::Tensor& field,
                                                            const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] at::Tensor growth(const Parameters& parameters) const override;
  void constrain_(Parameters& parameters) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  // Probability of every group's spike (rows × spikes), and the slabs' middles and variances (rows × width, width).
  struct Slabs {
    at::Tensor on, middle, variance;
  };
  [[nodiscard]] Slabs slabs_of(const at::Tensor& field, const Parameters& parameters) const;
  // Log-odds of the spikes, rows × spikes.
  [[nodiscard]] at::Tensor spike_odds(const at::Tensor& field, const Parameters& parameters) const;
  // rows × width: each group's value in all its columns, or in the first of them and 0 in the others.
  [[nodiscard]] at::Tensor in_all_columns(const at::Tensor& of_groups) const;
  [[nodiscard]] at::Tensor in_first_columns(const at::Tensor& of_groups) const;
  // The other way round: values of first columns.
  [[nodiscard]] at::Tensor of_first_columns(const at::Tensor& columns) const;

  std::int64_t spikes_, slabs_;
};

}  // namespace harmonium
