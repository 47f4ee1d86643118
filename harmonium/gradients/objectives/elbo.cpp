#include "harmonium/gradients/objectives/elbo.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

at::Tensor ElboTerms::bound() const { return objective({}); }

at::Tensor ElboTerms::objective(const ElboOptions& options) const {
  require(options.beta >= 0 && std::isfinite(options.beta), "the weight of the KL must not be negative, and is {}",
          options.beta);
  require(options.free_nats >= 0 && std::isfinite(options.free_nats), "free nats must not be negative, and are {}",
          options.free_nats);
  at::Tensor divergence = kl.sum(-1, /*keepdim=*/false, at::kDouble).mean();
  if (options.free_nats > 0) divergence = divergence.clamp_min(options.free_nats);
  return log_likelihood.mean() - options.beta * divergence;
}

ElboTerms elbo_terms(const Vae& vae, const Moments& leaves, const at::Tensor& rows, const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 1, "the bound of a VAE needs at least one row");
  const at::Tensor raw = vae.posterior_raw(leaves, rows);
  const at::Tensor z = vae.latent().reparametrized(key.fold_in(0), raw);
  return {.log_likelihood = vae.visible().log_prob(rows, vae.visible_raw(leaves, z)),
          .kl = *vae.latent().kl(raw, vae.prior_raw(leaves))};
}

at::Tensor elbo(const Vae& vae, const Moments& leaves, const at::Tensor& rows, const Key& key,
                const ElboOptions& options) {
  return elbo_terms(vae, leaves, rows, key).objective(options);
}

ElboGradient elbo_gradient(const Vae& vae, const at::Tensor& rows, const Key& key, const ElboOptions& options) {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves = vae.parameters().map([](const at::Tensor& value) { return value.detach().requires_grad_(); });
  const ElboTerms terms = elbo_terms(vae, leaves, rows, key);
  terms.objective(options).backward();
  const c10::NoGradGuard without_gradient;
  return {.bound = terms.bound().detach(), .gradient = leaves.map([](const at::Tensor& leaf) { return leaf.grad(); })};
}

LatentActivity latent_activity(const Vae& vae, const at::Tensor& rows) {
  require(rows.dim() == 2 && rows.size(0) >= 2, "counting active latent units needs at least two rows");
  constexpr std::int64_t rows_at_once = 5000;
  const c10::NoGradGuard without_gradient;
  std::vector<at::Tensor> means;
  LatentActivity result;
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const at::Tensor raw =
        vae.posterior_raw(vae.parameters(), rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first)));
    const at::Tensor kl = vae.latent().kl(raw, vae.prior_raw(vae.parameters()))->sum(0, /*keepdim=*/false, at::kDouble);
    result.kl = result.kl.defined() ? result.kl + kl : kl;
    means.push_back(vae.latent().mean(raw).to(at::kDouble));
  }
  result.kl /= static_cast<double>(rows.size(0));
  result.variances = at::cat(means).var(0);
  result.active = result.variances.gt(0.01).sum().item<std::int64_t>();
  return result;
}

}  // namespace harmonium
