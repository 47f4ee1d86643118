// The deep energy model (Ngiam, Chen, Koh & Ng 2011): binary hidden units over features that a feed-forward net makes
// of real values,
//
//   log f(v) = aᵀv − ½λ‖v‖² + Σ_j log(1 + e^{x_j}),   x = b + Wᵀg(v)
//
// with g the layers below the last one of `layers` (none: a Gaussian RBM of one precision), σ² = 1/λ. Given v the
// hidden units are independent, on with probability q = σ(x); given them the values have no distribution that could be
// drawn from, so chains move by HMC.
//
//   ∇_v log f = a − λv + (∂x/∂v)ᵀ q,  ∂a = v, ∂log λ = −½λ‖v‖², parameters of the net (∂x/∂θ)ᵀ q:
// one pass through the net and one back, by automatic differentiation.
//
// Z is finite whatever the weights are: every activation is bounded or grows at most linearly, so x does as well, and
// log(1 + e^x) ≤ log 2 + |x| cannot outgrow ½λ‖v‖² with λ > 0, which is kept as a logarithm within bounds.
//
// Annealing: β multiplies x − b, so that β = 0 is N(a/λ, I/λ) times a constant. No exact log Z. Activations without
// kinks (tanh, softplus) let HMC take longer steps.
#pragma once

#include "harmonium/models/free_energy_model.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

struct DeepEnergyStructure {
  std::int64_t inputs = 1;
  std::vector<std::int64_t> layers = {1};  // from the data up; the last is that of hidden units
  Activation activation = Activation::softplus;
  double spread = 1;  // standard deviation of the data, which the initial λ and its bounds are made for
};

class DeepEnergyModel final : public FreeEnergyModel {
 public:
  // Fails where the structure makes no model.
  explicit DeepEnergyModel(DeepEnergyStructure structure);

  [[nodiscard]] const DeepEnergyStructure& structure() const { return structure_; }
  [[nodiscard]] std::int64_t inputs() const override { return structure_.inputs; }
  [[nodiscard]] Moments initial_parameters(const Key& key, at::ScalarType type = at::kFloat) const override;
  [[nodiscard]] std::vector<ParameterGroup> groups() const override;
  [[nodiscard]] at::Tensor log_f(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] at::Tensor score(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] Moments moments(const at::Tensor& v, const Moments& theta) const override;
  void constrain_(Moments& theta) const override;
  [[nodiscard]] std::string complaint(const Moments& theta) const override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> features(const at::Tensor& v,
                                                                         const Moments& theta) const override;
  [[nodiscard]] double base_log_z(const Moments& theta) const override;
  [[nodiscard]] at::Tensor base_draws(const Moments& theta, const Key& key, std::int64_t rows) const override;

  // Filters of the first layer, inputs × units.
  [[nodiscard]] static at::Tensor first_filters(const Moments& theta);

 private:
  [[nodiscard]] at::Tensor hidden_fields(const at::Tensor& v, const Moments& theta, double beta) const;  // b + β(x − b)

  DeepEnergyStructure structure_;
  Dense net_;
};

}  // namespace harmonium
