#include "harmonium/gradients/objectives/draw_bound.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"

namespace harmonium {

ElboTerms draw_terms(const DrawNet& net, const Moments& leaves, const at::Tensor& rows, const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 1, "the bound of a DRAW net needs at least one row");
  const DrawWalk walk = net.walk(leaves, rows, net.posterior_draws(key, 1));
  ElboTerms terms{.log_likelihood = net.visible().log_prob(rows, net.visible_raw(leaves, walk.canvas)), .kl = {}};
  const at::Tensor prior = at::zeros({net.latent().raw_width()}, walk.canvas.options().requires_grad(false));
  for (const at::Tensor& posterior : walk.posteriors) terms.kl.push_back(*net.latent().kl(posterior, prior));
  return terms;
}

}  // namespace harmonium
