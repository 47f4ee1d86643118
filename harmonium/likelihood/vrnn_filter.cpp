#include "harmonium/likelihood/vrnn_filter.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace harmonium {

namespace {

class VrnnParticles final : public ParticleWalk {
 public:
  // `held` may be undefined.
  VrnnParticles(const Vrnn& net, const at::Tensor& values, const std::vector<std::int64_t>& alive,
                std::int64_t particles, at::Tensor held)
      : net_(net), values_(values), alive_(alive), particles_(particles), held_(std::move(held)) {}

  [[nodiscard]] at::Tensor step(std::int64_t t, const Key& key) override {
    const Moments& parameters = net_.parameters();
    const std::int64_t alive = alive_[static_cast<std::size_t>(t)], rows = alive * particles_;
    const at::Tensor r = t == 0 ? net_.begin(parameters, rows) : state_.narrow(0, 0, rows);
    const at::Tensor x = values_.narrow(0, first_, alive).repeat_interleave(particles_, 0);
    const at::Tensor q = net_.posterior(parameters, x, r), p = net_.prior(parameters, r);
    at::Tensor z = net_.latent().sample(key, q);
    if (held_.defined()) z.view({alive, particles_, -1}).select(1, 0).copy_(held_.narrow(0, first_, alive));
    first_ += alive;
    const at::Tensor log_w = net_.latent().log_prob(z, p) - net_.latent().log_prob(z, q) +
                             net_.visible().log_prob(x, net_.output(parameters, z, r));
    if (t + 1 < static_cast<std::int64_t>(alive_.size())) state_ = net_.next(parameters, x, z, r);
    return log_w;
  }
  void resample(const at::Tensor& ancestors) override { state_ = state_.index_select(0, ancestors); }

 private:
  const Vrnn& net_;
  const at::Tensor& values_;
  const std::vector<std::int64_t>& alive_;
  std::int64_t particles_, first_ = 0;
  at::Tensor held_, state_;
};

}  // namespace

FilteredSequences filter_sequences(const Vrnn& net, const at::Tensor& values, const std::vector<std::int64_t>& alive,
                                   const ParticleFilterOptions& options, const Key& key) {
  const c10::NoGradGuard no_gradients;
  VrnnParticles walk(net, values, alive, options.particles, {});
  return particle_filter(walk, alive, options, key);
}

FilteredSequences filter_own_sequences(const Vrnn& net, const VrnnDream& dream, const std::vector<std::int64_t>& alive,
                                       ParticleFilterOptions options, const Key& key) {
  const c10::NoGradGuard no_gradients;
  options.held = true;
  VrnnParticles walk(net, dream.visible, alive, options.particles, dream.latents);
  return particle_filter(walk, alive, options, key);
}

}  // namespace harmonium
