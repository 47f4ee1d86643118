// Spike-and-slab sparse coding as a net with latent variables: its spikes, with slabs summed out. Proposals are those
// of mean field, q(h | v) = Π_j Bernoulli(ĥ_j), so that importance_bound (likelihood/importance_bound.h) applies as it
// is.
//
// Weights are p(v, h)/q(h | v) rather than p(v, h, s)/q(h, s | v), of which they are the mean over q(s | h, v): the
// same expectation and a smaller spread, so that the bound is nearer. ĥ is kept within [margin, 1 − margin]: a spike
// that mean field is sure of and the exact posterior is not would have a weight that no number of draws finds.
#pragma once

#include "harmonium/inference/s3c_mean_field.h"
#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

class S3cLatents final : public LatentModel {
 public:
  static constexpr double margin = 1e-3;

  explicit S3cLatents(S3c model, S3cMeanFieldOptions options = {}) : model_(std::move(model)), options_(options) {}

  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;

 private:
  // Means of q(h | v), and the trace of spikes under them.
  [[nodiscard]] at::Tensor proposals(const S3cTerms& terms, const at::Tensor& rows) const;
  [[nodiscard]] static Trace trace(const S3cTerms& terms, const at::Tensor& rows, const at::Tensor& proposals,
                                   const at::Tensor& spikes);

  S3c model_;
  S3cMeanFieldOptions options_;
};

}  // namespace harmonium
