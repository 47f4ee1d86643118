// The evidence lower bound of a VAE (models/directed/vae.h), by the path through one draw:
//
//   ELBO(x) = E_q[log p(x | z)] − KL(q(z | x) ‖ p(z)) ≤ log p(x),   z = μ(x) + σ(x) ε,   KL in closed form.
//
// The mean over rows of one draw each is unbiased, and so is its derivative by autograd (Kingma & Welling 2014), whose
// noise is that of log p(x | z) alone. Cost: one pass through both nets and back.
//
// With several layers the KL is a sum over them: of the last given the draw below it, in closed form; of the others the
// entropy of q in closed form and log p(z_l | z_{l+1}) at the draws, since the layer above is a draw that depends on
// z_l.
//
// What is climbed may differ from the bound, what is reported never does:
//
//   mean log p(x | z) − β Σ_l max(λ, mean KL_l),   β: warm-up (Bowman et al. 2016),  λ: free nats (Kingma et al. 2016),
//
// with the mean over the rows of a batch and the KL summed over the units of layer l. Below λ nats a KL has no
// gradient.
#pragma once

#include "harmonium/models/directed/vae.h"

namespace harmonium {

struct ElboOptions {
  double beta = 1;
  double free_nats = 0;
};

// The two parts, float64 but for the KL. The draw is number 0 of Vae::infer under the same key.
struct ElboTerms {
  at::Tensor log_likelihood;   // rows: log p(x | z)
  std::vector<at::Tensor> kl;  // rows × latent: of every unit, layer by layer
  // The mean over rows of their difference, a scalar.
  [[nodiscard]] at::Tensor bound() const;
  // What is climbed.
  [[nodiscard]] at::Tensor objective(const ElboOptions& options) const;
};
[[nodiscard]] ElboTerms elbo_terms(const Vae& vae, const Moments& leaves, const at::Tensor& rows, const Key& key);

// The objective, a scalar that is differentiable in `leaves`; with the options left alone, the bound itself.
[[nodiscard]] at::Tensor elbo(const Vae& vae, const Moments& leaves, const at::Tensor& rows, const Key& key,
                              const ElboOptions& options = {});

struct ElboGradient {
  at::Tensor bound;  // float64 scalar on the model's device: reading it there is up to the caller, and waits
  Moments gradient;  // of the objective, upwards
};
[[nodiscard]] ElboGradient elbo_gradient(const Vae& vae, const at::Tensor& rows, const Key& key,
                                         const ElboOptions& options = {});

// Which latent units the model uses. Units of all layers stand side by side, from the data up.
struct LatentActivity {
  at::Tensor kl;                               // float64: mean over rows of the KL of unit j in nats, as in the bound
  at::Tensor variances;                        // float64: variance over rows of E_q[z_j | x]
  std::vector<std::int64_t> active_of_layers;  // how many of these are above 0.01 (Burda, Grosse & Salakhutdinov 2016)
  std::vector<double> kl_of_layers;            // sums of kl
  std::int64_t active = 0;                     // of all layers
};
// At least two rows, taken in blocks. What layers above the first are given is drawn twice for every row: the variance
// is then the covariance, over rows, of two estimates with draws of their own, whose noise adds nothing to it.
[[nodiscard]] LatentActivity latent_activity(const Vae& vae, const at::Tensor& rows, const Key& key = Key(0));

}  // namespace harmonium
