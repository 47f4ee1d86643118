// Models of the mean and the covariance of real values: pot, mpot, covariance_rbm and mcrbm, which differ in three
// choices. With filters C (D × F), u = Cᵀv, pooling P ≥ 0 (F × K; the identity unless asked for) and s = Pᵀu²:
//
//                     log f(v)
//   mcrbm             aᵀv − ½‖v‖² + Σ_j log(1 + e^{b_j + (Wᵀv)_j}) + Σ_k log(1 + e^{c_k − ½s_k})
//   covariance_rbm    the same without W and b
//   mpot              aᵀv − ½‖v‖² + Σ_j log(1 + e^{b_j + (Wᵀv)_j}) − Σ_k γ_k log(1 + ½s_k)
//   pot               −Σ_k γ_k log(1 + ½s_k)
//
// Hidden units given v: on with the probability σ of the exponent, or Gamma(γ_k, rate 1 + ½s_k); v given them is
// Gaussian with precision [I +] C diag(Ph) Cᵀ. A covariance unit that is on says "smooth along my filters" and switches
// off where the row is not; q_k = E[h_k | v] = σ(c_k − ½s_k), or γ_k/(1 + ½s_k).
//
//   ∇_v log f = a − v + Wσ(b + Wᵀv) − C((Pq) ⊙ u)      (pot: the last term alone)
//   ∂C = −v((Pq) ⊙ u)ᵀ, ∂P = −½u²qᵀ, ∂c = q, ∂γ = −log(1 + ½s), ∂W = vσᵀ, ∂b = σ, ∂a = v
//
// Cost of log f or its gradient: two products with C and with W per row. With −½‖v‖² Z is always finite. Without it,
// if C has full row rank and every γ > ½. Annealing: β multiplies W and s; pot has −½(1−β)‖v‖² beside it.
//
// Exact log Z: with binary units v given all of them is Gaussian, so it is a sum over their states (Cholesky for each
// state of the covariance units). pot with F = D is independent Student-t sources, u = Cᵀv, with 2γ − 1 degrees of
// freedom (ICA): log Z = −log|det C| + Σ_k [½ log 2π + lgamma(γ_k − ½) − lgamma(γ_k)].
//
// Welling, Hinton & Osindero 2003 (products of Student-t); Ranzato & Hinton 2010 (mcRBM); Ranzato, Mnih & Hinton 2010
// (mPoT).
#pragma once

#include "harmonium/models/free_energy_model.h"

namespace harmonium {

enum class CovarianceUnits { switches, gammas };  // binary, or Gamma

struct CovarianceStructure {
  std::int64_t inputs = 1;
  std::int64_t hidden = 0;   // mean units; 0: no W and b
  std::int64_t filters = 1;  // F
  std::int64_t pooled = 0;   // K covariance units with a P that is learnt; 0: one for each filter, P = I
  CovarianceUnits units = CovarianceUnits::switches;
  bool contained = true;     // −½‖v‖² and the visible bias
  bool equal_norms = false;  // all filters are kept at the same length
  // Standard deviation of the data, which the initial filters of contained models are made for. Hidden units can only
  // narrow the Gaussian around, so rows that are farther out than it must be rare: well below 1.
  double spread = 1.0 / 3;

  [[nodiscard]] std::int64_t covariance() const { return pooled > 0 ? pooled : filters; }
};

class CovarianceModel final : public FreeEnergyModel {
 public:
  // Fails where the structure makes no distribution.
  explicit CovarianceModel(const CovarianceStructure& structure);

  [[nodiscard]] const CovarianceStructure& structure() const { return structure_; }
  [[nodiscard]] std::int64_t inputs() const override { return structure_.inputs; }
  [[nodiscard]] Moments initial_parameters(const Key& key, at::ScalarType type = at::kFloat) const override;
  [[nodiscard]] std::vector<ParameterGroup> groups() const override;
  [[nodiscard]] at::Tensor log_f(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] at::Tensor score(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] Moments moments(const at::Tensor& v, const Moments& theta) const override;
  // Units of both kinds given v, then v by a Cholesky factor of its precision for each row, in float64: D²(F + D/3)
  // multiplications a row, as many as D/4 to D/2 leapfrog steps with F from 2D to D/3.
  [[nodiscard]] bool has_gibbs() const override { return true; }
  void gibbs_(at::Tensor& v, const Moments& theta, const Key& key, double beta = 1) const override;
  void constrain_(Moments& theta) const override;
  [[nodiscard]] std::string complaint(const Moments& theta) const override;
  [[nodiscard]] at::Tensor precision_given(const at::Tensor& row, const Moments& theta) const override;
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> features(const at::Tensor& v,
                                                                         const Moments& theta) const override;
  [[nodiscard]] double base_log_z(const Moments& theta) const override;
  [[nodiscard]] at::Tensor base_draws(const Moments& theta, const Key& key, std::int64_t rows) const override;
  [[nodiscard]] std::optional<double> exact_work() const override;
  [[nodiscard]] std::string exact_method() const override;
  [[nodiscard]] double exact_log_z(const Moments& theta) const override;
  [[nodiscard]] bool has_exact_draws() const override { return structure_.units == CovarianceUnits::switches; }
  [[nodiscard]] at::Tensor exact_draws(const Moments& theta, const Key& key, std::int64_t rows) const override;

 private:
  [[nodiscard]] bool is_ica() const;
  [[nodiscard]] at::Tensor pooled_squares(const at::Tensor& u, const Moments& theta) const;                 // s
  [[nodiscard]] at::Tensor covariance_means(const at::Tensor& s, const Moments& theta, double beta) const;  // q
  [[nodiscard]] at::Tensor filter_weights(const at::Tensor& q, const Moments& theta) const;                 // (Pq)

  CovarianceStructure structure_;
};

}  // namespace harmonium
