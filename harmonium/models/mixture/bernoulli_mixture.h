// A mixture of multivariate Bernoullis and the steps of EM for it, on the whole data or online (Cappé & Moulines 2009).
//
//   p(x) = Σ_k π_k Π_i μ_ki^{x_i} (1 − μ_ki)^{1−x_i},
//
// N inputs, K components. Parameters are the expected statistics of (x, k): "share" s_k = E[k] and "active"
// S_ki = E[k · x_i], K and K × N numbers in one Moments. What a person calls parameters follows by the M step,
//
//   π_k = s_k / Σ s,   μ_ki = S_ki / s_k, no nearer than 1e-6 to 0 and 1,
//
// so that a data set that never lights a pixel makes nothing impossible. One update is the E step of a batch and a move
// towards it,
//
//   r_nk = p(k | x_n),   ŝ_k = mean_n r_nk,   Ŝ_ki = mean_n r_nk x_ni,   s += γ (ŝ − s),   S += γ (Ŝ − S):
//
// online EM with rate γ. γ = 1 on all rows is EM (Dempster, Laird & Rubin 1977). Statistics are a convex set, so that
// with γ ≤ 1 they stay in it, as do averages of them, and nothing need be put back. On all rows no γ in (0, 1] lowers
// the likelihood: the new parameters are best for (1 − γ)·old + γ·new statistics, the old ones for the old statistics,
// so the new ones are at least as good as the old for the new statistics, which is all that EM's proof asks for.
//
// Smoothing adds c pseudo-rows for every row and component, half of them lit: ŝ_k → (ŝ_k + c) / (1 + K c),
// Ŝ_ki → (Ŝ_ki + c/2) / (1 + K c). EM then climbs the mean log-likelihood plus
// c Σ_k [log π_k + ½ Σ_i log μ_ki (1 − μ_ki)], the posterior under Dirichlet and beta priors.
//
// Everything costs O(rows·K·N), in float64 whatever the type of the parameters. Values of a row lie in [0, 1]; of gray
// ones "log p" is no probability.
#pragma once

#include <ATen/core/Tensor.h>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"

namespace harmonium {

struct ExpectedStatistics {
  at::Tensor log_likelihood;  // mean over rows (float64): one number, where the mixture is
  Moments statistics;         // of the rows, shaped like the parameters and of their type
};

class BernoulliMixture {
 public:
  // All components alike, with μ = ½: initialize() tells them apart.
  BernoulliMixture(std::int64_t inputs, std::int64_t components, at::ScalarType type = at::kFloat);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t components() const { return components_; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same mixture under other parameters (shared, not copied). Fails where names or shapes are others.
  [[nodiscard]] BernoulliMixture with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] BernoulliMixture to(const at::TensorOptions& options) const;
  // Whether parameters are statistics of any distribution, up to rounding: 0 ≤ S_ki ≤ s_k, Σ s = 1.
  [[nodiscard]] bool in_domain() const;

  [[nodiscard]] at::Tensor shares() const;  // π, K, float64
  [[nodiscard]] at::Tensor means() const;   // μ, K × N, float64

  // Rows may be of another type or on another device than the mixture: they are converted.

  // log p(x) of every row: exact, float64.
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const;
  // log p(x, k), rows × K, float64.
  [[nodiscard]] at::Tensor log_joint(const at::Tensor& rows) const;
  // p(k | x), rows × K, float64.
  [[nodiscard]] at::Tensor responsibilities(const at::Tensor& rows) const;
  // Σ_k p(k | x) μ_k, rows × N, float64.
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;
  // The E step, with `smoothing` pseudo-rows (c above) for every row and component.
  [[nodiscard]] ExpectedStatistics expected_statistics(const at::Tensor& rows, double smoothing = 0) const;

  struct Draws {
    at::Tensor components;  // count, int64
    at::Tensor means;       // of those, count × N
    at::Tensor rows;        // count × N
  };
  // Independent and exact. Row r depends on (key, r) alone.
  [[nodiscard]] Draws sample(const Key& key, std::int64_t count) const;

 private:
  // Columns of the data in float64, where the mixture is. Fails for rows of another width.
  [[nodiscard]] at::Tensor fitting(const at::Tensor& rows) const;

  std::int64_t inputs_, components_;
  Moments parameters_;
};

// Equal shares. The means of a component are 45 % the data's column means (N), 45 % a row of the data (K × N, one for
// each component) and 10 % noise, so that components of equal rows are told apart as well.
void initialize(BernoulliMixture& mixture, const Key& key, const at::Tensor& means, const at::Tensor& rows);

}  // namespace harmonium
