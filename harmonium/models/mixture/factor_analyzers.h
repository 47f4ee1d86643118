// A mixture of factor analysers and the steps of EM for it (Ghahramani & Hinton 1996), on the whole data or online.
//
//   p(x) = Σ_m π_m N(x; μ_m, Λ_m Λ_mᵀ + Ψ_m),   x = μ_m + Λ_m z + noise,   z ~ N(0, I_q),   Ψ_m diagonal
//
// N inputs, M components of q factors each. As in BernoulliMixture, parameters are the expected statistics of a row and
// what is hidden of it, with z̃ = (z, 1):
//
//   "share" s_m = E[m],  "codes" E_m = E[m z̃ z̃ᵀ],  "products" F_m = E[m x z̃ᵀ],  "squares" G_m = E[m x²],
//
// and what a person calls parameters follows by the M step,
//
//   π_m = s_m/Σ s,   [Λ_m μ_m] = F_m E_m⁻¹,   Ψ_m = max(floor, (G_m − rowsum([Λ_m μ_m] ∘ F_m))/s_m).
//
// An update is the E step of a batch and a move towards its statistics with rate γ; γ = 1 on all rows is EM. It never
// lowers the likelihood while no floor is active (the proof for γ < 1 is BernoulliMixture's).
//
// The E step never forms an N × N matrix: with W = I + ΛᵀΨ⁻¹Λ = L Lᵀ, V = W⁻¹, e = x − μ, w = L⁻¹ΛᵀΨ⁻¹e,
//
//   log N = −½ [N log 2π + Σ log Ψ + 2 Σ log L_ii + eᵀΨ⁻¹e − wᵀw],   E[z | x] = V ΛᵀΨ⁻¹ e,   Cov[z | x] = V.
//
// Smoothing adds c pseudo-rows for every row and component, with x² = 1 and z² = 1 on average and nothing shared: for
// standardized columns, a unit Gaussian. Time O(rows · M · N · q), in float64 whatever the type of the parameters.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/models/mixture/bernoulli_mixture.h"

namespace harmonium {

class FactorAnalyzers {
 public:
  struct Components {
    at::Tensor shares, means, loadings, noise;  // M, M × N, M × N × q, M × N; float64
  };

  // Unit Gaussians, all alike: initialize() tells them apart.
  FactorAnalyzers(std::int64_t inputs, std::int64_t components, std::int64_t factors, double floor = 1e-3,
                  at::ScalarType type = at::kFloat);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t count() const { return components_; }
  [[nodiscard]] std::int64_t factors() const { return factors_; }
  [[nodiscard]] double floor() const { return floor_; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same mixture under other parameters (shared, not copied). Fails where names or shapes are others.
  [[nodiscard]] FactorAnalyzers with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] FactorAnalyzers to(const at::TensorOptions& options) const;
  // Whether shares are none below 0 and add up to 1, up to rounding, and every component can be computed.
  [[nodiscard]] bool in_domain() const;

  // The M step.
  [[nodiscard]] Components components() const;

  // Rows may be of another type or on another device than the mixture: they are converted.

  // log p(x) of every row: exact, float64.
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const;
  // log p(x, m), rows × M, float64.
  [[nodiscard]] at::Tensor log_joint(const at::Tensor& rows) const;
  // p(m | x), rows × M, float64.
  [[nodiscard]] at::Tensor responsibilities(const at::Tensor& rows) const;
  // Σ_m p(m | x) (μ_m + Λ_m E[z | x, m]), rows × N, float64.
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;
  // The E step under components that need not be the mixture's own, with c pseudo-rows for every row and component.
  [[nodiscard]] ExpectedStatistics expected_statistics(const Components& under, const at::Tensor& rows,
                                                       double smoothing = 0) const;

  struct Draws {
    at::Tensor components;   // rows, int64
    at::Tensor means, rows;  // μ + Λ z, and with noise; rows × N
  };
  // Independent and exact. Row r depends on (key, r) alone.
  [[nodiscard]] Draws sample(const Key& key, std::int64_t rows) const;

 private:
  [[nodiscard]] at::Tensor fitting(const at::Tensor& rows) const;

  std::int64_t inputs_, components_, factors_;
  double floor_;
  Moments parameters_;
};

// Begins with an E step under clusters of the rows, found by k-means from seeds far apart (k-means++), all with the q
// principal directions of what clusters leave over. Takes float64 tables of rows × N: give some thousands of rows.
void initialize(FactorAnalyzers& mixture, const Key& key, const at::Tensor& rows, double smoothing);

}  // namespace harmonium
