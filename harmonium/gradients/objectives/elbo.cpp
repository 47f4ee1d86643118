#include "harmonium/gradients/objectives/elbo.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// KL of every unit of a layer: in closed form at the top (`above` is undefined). Below, the draw above depends on this
// one, so that only the entropy of q has a closed form.
at::Tensor divergence_of(const Vae& vae, const Moments& leaves, std::size_t level, const at::Tensor& raw,
                         const at::Tensor& drawn, const at::Tensor& above) {
  const GaussianDistribution& law = vae.latent(level);
  const at::Tensor prior = vae.prior_raw(leaves, level, above);
  if (!above.defined()) return *law.kl(raw, prior);
  return -law.entropy_each(raw) - law.log_prob_each(drawn, prior);
}

}  // namespace

at::Tensor ElboTerms::bound() const { return objective({}); }

at::Tensor ElboTerms::objective(const ElboOptions& options) const {
  require(options.beta >= 0 && std::isfinite(options.beta), "the weight of the KL must not be negative, and is {}",
          options.beta);
  require(options.free_nats >= 0 && std::isfinite(options.free_nats), "free nats must not be negative, and are {}",
          options.free_nats);
  at::Tensor total;
  for (const at::Tensor& each : kl) {
    at::Tensor divergence = each.sum(-1, /*keepdim=*/false, at::kDouble).mean();
    if (options.free_nats > 0) divergence = divergence.clamp_min(options.free_nats);
    total = total.defined() ? total + divergence : divergence;
  }
  return log_likelihood.mean() - options.beta * total;
}

ElboTerms elbo_terms(const Vae& vae, const Moments& leaves, const at::Tensor& rows, const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 1, "the bound of a VAE needs at least one row");
  std::vector<at::Tensor> raws, drawn;
  for (std::size_t l = 0; l < vae.levels(); ++l) {
    raws.push_back(vae.posterior_raw(leaves, l == 0 ? rows : drawn.back(), l));
    const Key own = key.fold_in(0);
    drawn.push_back(vae.latent(l).reparametrized(l == 0 ? own : own.fold_in(l), raws.back()));
  }
  ElboTerms terms{.log_likelihood = vae.visible().log_prob(rows, vae.visible_raw(leaves, drawn.front())), .kl = {}};
  for (std::size_t l = 0; l < vae.levels(); ++l)
    terms.kl.push_back(
        divergence_of(vae, leaves, l, raws[l], drawn[l], l + 1 < vae.levels() ? drawn[l + 1] : at::Tensor()));
  return terms;
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

LatentActivity latent_activity(const Vae& vae, const at::Tensor& rows, const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 2, "counting active latent units needs at least two rows");
  constexpr std::int64_t rows_at_once = 5000;
  constexpr std::size_t draws = 2;
  const c10::NoGradGuard without_gradient;
  const Moments& parameters = vae.parameters();
  std::array<std::vector<at::Tensor>, draws> means;  // of all units, by each draw
  LatentActivity result;
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const at::Tensor block = rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first));
    const Key own = key.fold_in(static_cast<std::uint64_t>(first));
    for (std::size_t draw = 0; draw < draws; ++draw) {
      std::vector<at::Tensor> raws, drawn, of_units, kl;
      for (std::size_t l = 0; l < vae.levels(); ++l) {
        raws.push_back(vae.posterior_raw(parameters, l == 0 ? block : drawn.back(), l));
        drawn.push_back(vae.latent(l).reparametrized(own.fold_in(draw).fold_in(l), raws.back()));
        of_units.push_back(vae.latent(l).mean(raws.back()).to(at::kDouble));
      }
      for (std::size_t l = 0; l < vae.levels(); ++l)
        kl.push_back(
            divergence_of(vae, parameters, l, raws[l], drawn[l], l + 1 < vae.levels() ? drawn[l + 1] : at::Tensor())
                .sum(0, /*keepdim=*/false, at::kDouble));
      const at::Tensor share = at::cat(kl) / static_cast<double>(draws * static_cast<std::size_t>(rows.size(0)));
      result.kl = result.kl.defined() ? result.kl + share : share;
      means[draw].push_back(at::cat(of_units, 1));
    }
  }
  const at::Tensor one = at::cat(means[0]), other = at::cat(means[1]);
  result.variances = ((one - one.mean(0)) * (other - other.mean(0))).sum(0) / static_cast<double>(rows.size(0) - 1);
  std::int64_t from = 0;
  for (std::size_t l = 0; l < vae.levels(); ++l) {
    const std::int64_t width = vae.latent(l).width();
    result.active_of_layers.push_back(result.variances.narrow(0, from, width).gt(0.01).sum().item<std::int64_t>());
    result.kl_of_layers.push_back(result.kl.narrow(0, from, width).sum().item<double>());
    result.active += result.active_of_layers.back();
    from += width;
  }
  return result;
}

}  // namespace harmonium
