// The spike-and-slab RBM (Courville, Bergstra & Bengio 2011; Courville, Desjardins, Bergstra & Bengio 2014): every
// hidden unit is a spike h ∈ {0, 1} and a slab s ~ N(μ, 1/α), and units that are on change the mean and the covariance
// of the values. With t = Wᵀv and diagonal Λ,
//
//   log f(v) = aᵀv − ½vᵀΛv + Σ_j log(1 + e^{x_j}),   x_j = b_j + μ_j t_j + t_j²/2α_j − ½ Σ_i Φ_ij v_i²
//
//   h_j | v: on with probability q_j = σ(x_j)       s_j | v, h_j = 1:  N(μ_j + t_j/α_j, 1/α_j)
//   v_i | h, s: N((a_i + Σ_j W_ij h_j s_j)/d_i, 1/d_i),  d_i = Λ_i + Σ_j Φ_ij h_j
//   v | h: precision Λ_h = diag(d) − Σ_j h_j w_j w_jᵀ/α_j, linear part a + Σ_j h_j μ_j w_j
//
//   ∇_v log f = a − Λv + W(q ⊙ s̄) − v ⊙ Φq,  s̄ = μ + t/α
//   ∂W = v(q ⊙ s̄)ᵀ, ∂b = q, ∂μ = q ⊙ t, ∂Φ = −½v²qᵀ, ∂log α = −½q ⊙ t²/α, ∂log Λ = −½Λ ⊙ v², ∂a = v
//
// Λ and α are kept as logarithms; Φ ≥ 0 as it is, because 0 must be possible. Without Φ it is the RBM of gaussian and
// spike_slab units (units/spike_slab.h): their bias is αμ and their ζ is b − ½ log(2π/α) − ½αμ².
//
// Units that are on take precision away, so Z is finite only where enough is left. r_j = Σ_i W_ij²/(α_j Φ_ij) is the
// least factor with w_j w_jᵀ/α_j ⪯ r_j diag(Φ_j), so Λ_h ≻ 0 in every state if
//   Λ ≻ Σ_j (1 − 1/r_j)₊ w_j w_jᵀ/α_j,
// which without Φ (r = ∞) is also necessary. Two ways to stay there:
//   certificate   Λ ≻ W diag(1/α) Wᵀ: singular values of Λ^{-½} W α^{-½} are clipped at 0.95, as for machines at 1
//                 (models/definiteness.h); Φ is 0, or is learnt and only adds to it
//   penalty       Φ_ij ≥ |W_ij| Σ_k |W_kj|/α_j, the least total with r_j ≤ 1: W is free
// Before that columns of W are brought to unit length, and μ and α scaled along, which leaves the density as it is.
//
// Annealing: β multiplies x − b, as α/β, βμ and βΦ would. Exact log Z: a sum over the states of all spikes
// (spike_slab_states.h). Cost of log f or its gradient: two products with W per row, and two with Φ.
#pragma once

#include "harmonium/models/free_energy_model.h"

namespace harmonium {

enum class SpikeSlabDefinite { certificate, penalty };

struct SpikeSlabStructure {
  std::int64_t inputs = 1;
  std::int64_t hidden = 1;
  bool penalties = false;  // Φ is learnt; else it is 0
  SpikeSlabDefinite definite = SpikeSlabDefinite::certificate;
  double spread = 1;  // standard deviation of the data, which initial precisions and bounds are made for
};

class SpikeSlabModel final : public FreeEnergyModel {
 public:
  // Fails where the structure makes no model.
  explicit SpikeSlabModel(const SpikeSlabStructure& structure);

  [[nodiscard]] const SpikeSlabStructure& structure() const { return structure_; }
  [[nodiscard]] std::int64_t inputs() const override { return structure_.inputs; }
  [[nodiscard]] Moments initial_parameters(const Key& key, at::ScalarType type = at::kFloat) const override;
  [[nodiscard]] std::vector<ParameterGroup> groups() const override;
  [[nodiscard]] at::Tensor log_f(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] at::Tensor score(const at::Tensor& v, const Moments& theta, double beta = 1) const override;
  [[nodiscard]] Moments moments(const at::Tensor& v, const Moments& theta) const override;
  void constrain_(Moments& theta) const override;
  [[nodiscard]] std::string complaint(const Moments& theta) const override;
  // definite_strength: 1 is where Z becomes infinite, or nothing shows that it is finite.
  [[nodiscard]] std::map<std::string, double> measures(const Moments& theta) const override;
  [[nodiscard]] at::Tensor precision_given(const at::Tensor& row, const Moments& theta) const override;
  // "slabs", E[h s | v], and "spikes", E[h | v].
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> features(const at::Tensor& v,
                                                                         const Moments& theta) const override;
  [[nodiscard]] double base_log_z(const Moments& theta) const override;
  [[nodiscard]] at::Tensor base_draws(const Moments& theta, const Key& key, std::int64_t rows) const override;
  [[nodiscard]] bool has_gibbs() const override { return true; }
  // Spikes with slabs summed out, slabs, values.
  void gibbs_(at::Tensor& v, const Moments& theta, const Key& key, double beta = 1) const override;
  [[nodiscard]] std::optional<double> exact_work() const override;
  [[nodiscard]] std::string exact_method() const override;
  [[nodiscard]] double exact_log_z(const Moments& theta) const override;
  [[nodiscard]] bool has_exact_draws() const override { return true; }
  [[nodiscard]] at::Tensor exact_draws(const Moments& theta, const Key& key, std::int64_t rows) const override;

 private:
  [[nodiscard]] at::Tensor spike_fields(const at::Tensor& v, const at::Tensor& t, const Moments& theta,
                                        double beta) const;  // x
  void scale_columns_(Moments& theta) const;

  SpikeSlabStructure structure_;
};

}  // namespace harmonium
