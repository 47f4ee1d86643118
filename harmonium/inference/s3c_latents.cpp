#include "harmonium/inference/s3c_latents.h"

#include <ATen/ATen.h>

#include "harmonium/kernels/random.h"

namespace harmonium {

at::Tensor S3cLatents::proposals(const S3cTerms& terms, const at::Tensor& rows) const {
  return s3c_mean_field(terms, rows, options_).spikes.clamp(margin, 1 - margin);
}

Trace S3cLatents::trace(const S3cTerms& terms, const at::Tensor& rows, const at::Tensor& proposals,
                        const at::Tensor& spikes) {
  const at::Tensor prior = s3c_log_prior(terms, spikes), p = proposals.unsqueeze(1);
  Trace found;
  found.latents = {spikes};
  found.log_p = {s3c_log_joint(terms, rows, spikes) - prior, prior};
  found.log_q = {(spikes * p.logit()).sum(2) + (1 - p).log().sum(2)};
  return found;
}

Trace S3cLatents::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                        std::int64_t first_draw) const {
  const S3cTerms terms(parameters);
  const at::Tensor q = proposals(terms, rows);
  std::vector<at::Tensor> spikes;
  for (std::int64_t k = 0; k < draws; ++k)
    spikes.push_back(sample_bernoulli(key.fold_in(static_cast<std::uint64_t>(first_draw + k)), q));
  return trace(terms, rows, q, at::stack(spikes, 1));
}

Trace S3cLatents::score(const Moments& parameters, const at::Tensor& rows,
                        const std::vector<at::Tensor>& latents) const {
  const S3cTerms terms(parameters);
  return trace(terms, rows, proposals(terms, rows), latents.at(0).to(at::kDouble));
}

Dream S3cLatents::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  const S3c::Draws drawn = model_.with_parameters(parameters).sample(key, count);
  return {.visible = drawn.rows, .means = drawn.means, .latents = {drawn.spikes}};
}

}  // namespace harmonium
