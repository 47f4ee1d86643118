#include "harmonium/models/directed/sigmoid_belief_net.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

SigmoidBeliefNet::SigmoidBeliefNet(SigmoidBeliefNetStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(!structure_.latent.empty(), "a sigmoid belief net needs at least one layer of latent variables");
  require(visible_->shared_width() == 0, "{} has a parameter that is no output of a net; take gaussian:N:FLOOR",
          structure_.visible);
  for (std::size_t l = 0; l < structure_.latent.size(); ++l) {
    require(structure_.latent[l] >= 1, "latent layer {} of a sigmoid belief net has {} units; it needs at least one",
            l + 1, structure_.latent[l]);
    const std::int64_t below = l == 0 ? visible_->width() : structure_.latent[l - 1],
                       below_raw = l == 0 ? visible_->raw_width() : structure_.latent[l - 1];
    std::vector<std::int64_t> downwards = {structure_.latent[l]}, upwards = {below};
    downwards.insert(downwards.end(), structure_.between.rbegin(), structure_.between.rend());
    upwards.insert(upwards.end(), structure_.between.begin(), structure_.between.end());
    downwards.push_back(below_raw);
    upwards.push_back(structure_.latent[l]);
    latent_.push_back(std::make_shared<BernoulliDistribution>(structure_.latent[l]));
    down_.push_back(std::make_shared<Dense>(format("down{}.", l + 1), downwards, structure_.activation));
    up_.push_back(std::make_shared<Dense>(format("up{}.", l + 1), upwards, structure_.activation));
  }
  for (const auto& net : down_) net->declare(parameters_, type);
  require(structure_.prior_hidden >= 0, "an RBM as prior needs hidden units, not {}", structure_.prior_hidden);
  if (structure_.prior_hidden > 0) {
    rbm_prior_.emplace(structure_.latent.back(), structure_.prior_hidden, type);
    rbm_prior_->declare(parameters_);
  } else {
    parameters_.insert(prior_name(), at::zeros({structure_.latent.back()}, type));
  }
  for (const auto& net : up_) net->declare(parameters_, type);
}

const Distribution& SigmoidBeliefNet::law_below(std::size_t layer) const {
  if (layer == 0) return *visible_;
  return *latent_[layer - 1];
}

std::vector<std::int64_t> SigmoidBeliefNet::widths_below() const {
  std::vector<std::int64_t> widths = {visible_->width()};
  widths.insert(widths.end(), structure_.latent.begin(), structure_.latent.end() - 1);
  return widths;
}

std::vector<AffineLayer> SigmoidBeliefNet::affine_recognition() const {
  return structure_.between.empty() ? affine_recognition(up_.size()) : std::vector<AffineLayer>{};
}

std::vector<AffineLayer> SigmoidBeliefNet::affine_recognition(std::size_t layers) {
  std::vector<AffineLayer> names;
  for (std::size_t l = 1; l <= layers; ++l)
    names.push_back({.weights = format("up{}.layer1.weights", l), .bias = format("up{}.layer1.bias", l)});
  return names;
}

SigmoidBeliefNet SigmoidBeliefNet::with_parameters(const Moments& parameters) const {
  SigmoidBeliefNet other = *this;
  other.parameters_ = {};
  for (const auto& [name, value] : parameters_.entries()) {
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit this sigmoid belief net", name);
    other.parameters_.insert(name, parameters[name]);
  }
  return other;
}

SigmoidBeliefNet SigmoidBeliefNet::to(const at::TensorOptions& options) const {
  return with_parameters(parameters_.to(options).clone());
}

at::Tensor SigmoidBeliefNet::encode(const at::Tensor& rows, std::size_t layer) const {
  require(layer < latent_.size(), "a sigmoid belief net of {} latent layers has no layer {}", latent_.size(),
          layer + 1);
  const c10::NoGradGuard without_gradient;
  at::Tensor values = rows;
  for (std::size_t l = 0; l <= layer; ++l) values = latent_[l]->mean(up_[l]->forward(parameters_, values));
  return values;
}

Trace SigmoidBeliefNet::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                              std::int64_t first_draw) const {
  require(draws >= 1, "inference in a sigmoid belief net needs at least one draw of each row, not {}", draws);
  std::vector<at::Tensor> latents;
  {
    const c10::NoGradGuard without_gradient;
    for (std::size_t l = 0; l < latent_.size(); ++l) {
      // All draws of a row see the same data, so that the first net is asked once.
      const at::Tensor raw = up_[l]->forward(parameters, l == 0 ? rows : latents.back());
      std::vector<at::Tensor> drawn;
      for (std::int64_t draw = 0; draw < draws; ++draw)
        drawn.push_back(latent_[l]->sample(key.fold_in(static_cast<std::uint64_t>(first_draw + draw)).fold_in(l),
                                           l == 0 ? raw : raw.select(1, draw).contiguous()));
      latents.push_back(at::stack(drawn, 1));
    }
  }
  return score(parameters, rows, latents);
}

Trace SigmoidBeliefNet::score(const Moments& parameters, const at::Tensor& rows,
                              const std::vector<at::Tensor>& latents) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(),
          "a sigmoid belief net of {} takes rows of {} values, not of {}", structure_.visible, visible_->width(),
          rows.dim() == 2 ? rows.size(1) : -1);
  require(latents.size() == latent_.size(), "a sigmoid belief net of {} latent layers was given latents of {}",
          latent_.size(), latents.size());
  Trace trace{.latents = latents, .log_p = {}, .log_q = {}};
  for (std::size_t l = 0; l < latent_.size(); ++l) {
    const at::Tensor& h = latents[l];
    require(h.dim() == 3 && h.size(0) == rows.size(0) && h.size(2) == latent_[l]->width(),
            "latents of layer {} are rows × draws × {}, with as many rows as the data ({})", l + 1, latent_[l]->width(),
            rows.size(0));
    const at::Tensor below = l == 0 ? rows.unsqueeze(1) : latents[l - 1];
    trace.log_p.push_back(law_below(l).log_prob(below, down_[l]->forward(parameters, h)));
    trace.log_q.push_back(latent_[l]->log_prob(h, up_[l]->forward(parameters, below)));
  }
  trace.log_p.push_back(rbm_prior_ ? rbm_prior_->log_f(parameters, latents.back())
                                   : latent_.back()->log_prob(latents.back(), parameters[prior_name()]));
  return trace;
}

Dream SigmoidBeliefNet::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a sigmoid belief net cannot draw {} rows", count);
  const c10::NoGradGuard without_gradient;
  const Key top = key.fold_in(latent_.size());
  if (rbm_prior_) return dream_below(parameters, rbm_prior_->draw(parameters, count, top), key);
  const at::Tensor raw = parameters[prior_name()].detach().expand({count, structure_.latent.back()}).contiguous();
  return dream_below(parameters, latent_.back()->sample(top, raw), key);
}

Dream SigmoidBeliefNet::dream_below(const Moments& parameters, const at::Tensor& top, const Key& key) const {
  require(top.dim() == 2 && top.size(1) == structure_.latent.back(), "dreams of this net begin at rows of {} latents",
          structure_.latent.back());
  const c10::NoGradGuard without_gradient;
  Dream result{.visible = {}, .means = {}, .latents = std::vector<at::Tensor>(latent_.size())};
  result.latents.back() = top;
  at::Tensor raw = down_.back()->forward(parameters, top);
  for (std::size_t l = latent_.size() - 1; l-- > 0;) {
    result.latents[l] = latent_[l]->sample(key.fold_in(l + 1), raw);
    raw = down_[l]->forward(parameters, result.latents[l]);
  }
  result.visible = visible_->sample(key.fold_in(0), raw);
  result.means = visible_->mean(raw);
  return result;
}

void initialize(SigmoidBeliefNet& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "a sigmoid belief net of {} begins at the means of {} columns, not of {}", net.visible().spec(),
          net.visible().width(), data_means.numel());
  constexpr double latent_bias = -1;
  Moments& parameters = net.parameters();
  for (std::size_t l = 0; l < net.structure().latent.size(); ++l) {
    net.down(l).initialize(parameters, key.fold_in(2 * l));
    net.up(l).initialize(parameters, key.fold_in(2 * l + 1));
    parameters[net.up(l).output_bias()].fill_(latent_bias);
    if (l > 0) parameters[net.down(l).output_bias()].fill_(latent_bias);
  }
  if (const RbmPrior* prior = net.rbm_prior()) {
    constexpr double prior_weights = 0.01;
    const BoltzmannMachine machine = prior->machine(parameters);
    // −1 but for what the hidden units add at first.
    at::Tensor weights = machine.parameters()["visible_hidden.weights"];
    weights.copy_(normal(key.fold_in(2 * net.structure().latent.size()), weights.sizes(), weights.options()));
    weights.mul_(prior_weights);
    at::Tensor(machine.parameters()["visible.bias"]).fill_(latent_bias);
  } else {
    parameters[SigmoidBeliefNet::prior_name()].fill_(latent_bias);
  }
  at::Tensor& bias = parameters[net.down(0).output_bias()];
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
}

}  // namespace harmonium
