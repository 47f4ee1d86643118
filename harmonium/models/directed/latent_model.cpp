#include "harmonium/models/directed/latent_model.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"

namespace harmonium {

at::Tensor Trace::log_weights() const {
  require(!log_p.empty(), "a trace without probabilities has no weights");
  at::Tensor total = log_p.front();
  for (std::size_t l = 1; l < log_p.size(); ++l) total = total + log_p[l];
  for (const at::Tensor& log_q_l : log_q) total = total - log_q_l;
  return total;
}

Trace LatentModel::relax(const Moments&, const at::Tensor&, std::int64_t, const Key&, const Relaxation&) const {
  fail("draws of real latent variables have a path and need no relaxation");
}

Dream LatentModel::dream_below(const Moments&, const at::Tensor&, const Key&) const {
  fail("this model draws its uppermost latents itself");
}

}  // namespace harmonium
