// Relaxed draws of a sigmoid belief net; the rest is in sigmoid_belief_net.cpp.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

namespace {

// log-density of ŷ = (a + logit u)/τ, summed over columns: log τ + (a − τŷ) − 2 log(1 + e^{a − τŷ}) each.
at::Tensor log_logistic(const at::Tensor& relaxed, const at::Tensor& raw, double temperature) {
  const at::Tensor left = raw - temperature * relaxed;
  // a − 2 sp(a) = log σ(a) + log σ(−a).
  return (std::log(temperature) + at::log_sigmoid(left) + at::log_sigmoid(-left))
      .sum(-1, /*keepdim=*/false, at::kDouble);
}

}  // namespace

Trace SigmoidBeliefNet::relax(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                              const Relaxation& relaxation) const {
  require(structure_.factorial(),
          "draws of autoregressive layers wait for each other and cannot be relaxed; use another @objective than "
          "concrete and straight_through");
  constexpr double edge = 1e-7;  // of uniforms, whose log-odds must be numbers
  std::vector<at::Tensor> latents, log_odds, recognition;
  for (std::size_t l = 0; l < latent_.size(); ++l) {
    const at::Tensor raw = l == 0 ? up_[l]->forward(parameters, rows).unsqueeze(1).expand({-1, draws, -1})
                                  : up_[l]->forward(parameters, latents.back());
    std::vector<at::Tensor> drawn;
    {
      const c10::NoGradGuard without_gradient;
      for (std::int64_t draw = 0; draw < draws; ++draw) {
        const Key stream = key.fold_in(static_cast<std::uint64_t>(draw)).fold_in(l);
        const at::Tensor of_draw = raw.select(1, draw).contiguous();
        drawn.push_back(relaxation.straight_through
                            ? latent_[l]->sample(stream, of_draw)
                            : at::logit(uniform(stream, of_draw.sizes(), of_draw.options()), edge));
      }
    }
    if (relaxation.straight_through) {
      const at::Tensor mean = raw.sigmoid();
      latents.push_back(at::stack(drawn, 1) + (mean - mean.detach()));
      continue;
    }
    recognition.push_back(raw);
    log_odds.push_back((raw + at::stack(drawn, 1)) / relaxation.posterior_temperature);
    latents.push_back(log_odds.back().sigmoid());
  }
  if (relaxation.straight_through) return score(parameters, rows, latents);
  require(!rbm_prior_,
          "relaxed bits have a density, and an RBM as prior has none; use another @objective than concrete");
  Trace trace{.latents = latents, .log_p = {}, .log_q = {}};
  for (std::size_t l = 0; l < latent_.size(); ++l) {
    const at::Tensor raw = down_[l]->forward(parameters, latents[l]);
    trace.log_p.push_back(l == 0 ? visible_->log_prob(rows.unsqueeze(1), raw)
                                 : log_logistic(log_odds[l - 1], raw, relaxation.prior_temperature));
    trace.log_q.push_back(log_logistic(log_odds[l], recognition[l], relaxation.posterior_temperature));
  }
  trace.log_p.push_back(log_logistic(log_odds.back(), parameters[prior_name()], relaxation.prior_temperature));
  return trace;
}

}  // namespace harmonium
