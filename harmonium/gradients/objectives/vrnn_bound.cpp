#include "harmonium/gradients/objectives/vrnn_bound.h"

#include <ATen/ATen.h>

namespace harmonium {

at::Tensor VrnnTerms::bound(double beta) const { return log_likelihood - beta * kl.sum(1, false, at::kDouble); }

VrnnTerms vrnn_terms(const Vrnn& net, const Moments& leaves, const at::Tensor& values,
                     const std::vector<std::int64_t>& alive, const Key& key) {
  const VrnnWalk made = net.walk(leaves, values, alive, net.posterior_draws(key));
  return {.log_likelihood = net.visible().log_prob(values, net.output(leaves, made.latents, made.states)),
          .kl = *net.latent().kl(made.posteriors, net.prior(leaves, made.states))};
}

}  // namespace harmonium
