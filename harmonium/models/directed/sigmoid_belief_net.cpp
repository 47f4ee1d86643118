#include "harmonium/models/directed/sigmoid_belief_net.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/nets/dense.h"

namespace harmonium {

double SigmoidBeliefNetStructure::extra_weights(std::int64_t visible_width) const {
  const auto of_layer = [&](LayerKind kind, std::int64_t units, std::int64_t parents) {
    const auto n = static_cast<double>(units);
    if (kind == LayerKind::factorial) return 0.0;
    if (kind == LayerKind::autoregressive) return n * n;
    return (nade_hidden > 0 ? static_cast<double>(nade_hidden) : n) * (2 * n + static_cast<double>(parents));
  };
  double total = latent.empty() ? 0 : of_layer(prior, latent.back(), 0);
  std::int64_t below = visible_width;
  for (const std::int64_t width : latent) {
    total += of_layer(generation, below, between.empty() ? width : between.front()) +
             of_layer(recognition, width, between.empty() ? below : between.back());
    below = width;
  }
  return total;
}

SigmoidBeliefNet::SigmoidBeliefNet(SigmoidBeliefNetStructure structure, at::ScalarType type)
    : structure_(std::move(structure)), visible_(make_distribution(structure_.visible)) {
  require(!structure_.latent.empty(), "a sigmoid belief net needs at least one layer of latent variables");
  require(visible_->shared_width() == 0, "{} has a parameter that is no output of a net; take gaussian:N:FLOOR",
          structure_.visible);
  for (std::size_t l = 0; l < structure_.latent.size(); ++l) {
    require(structure_.latent[l] >= 1, "latent layer {} of a sigmoid belief net has {} units; it needs at least one",
            l + 1, structure_.latent[l]);
    const std::int64_t below = l == 0 ? visible_->width() : structure_.latent[l - 1];
    const auto law = [&](const char* way, LayerKind kind, std::shared_ptr<const Distribution> values) {
      return LayerLaw(format("{}{}.", way, l + 1), kind, std::move(values), structure_.nade_hidden);
    };
    latent_.push_back(std::make_shared<BernoulliDistribution>(structure_.latent[l]));
    down_laws_.push_back(l == 0 ? law("down", structure_.generation, visible_)
                                : law("down", structure_.generation, latent_[l - 1]));
    up_laws_.push_back(law("up", structure_.recognition, latent_[l]));
    std::vector<std::int64_t> downwards = {structure_.latent[l]}, upwards = {below};
    downwards.insert(downwards.end(), structure_.between.rbegin(), structure_.between.rend());
    upwards.insert(upwards.end(), structure_.between.begin(), structure_.between.end());
    downwards.push_back(down_laws_[l].raw_width());
    upwards.push_back(up_laws_[l].raw_width());
    down_.push_back(std::make_shared<Dense>(format("down{}.", l + 1), downwards, structure_.activation));
    up_.push_back(std::make_shared<Dense>(format("up{}.", l + 1), upwards, structure_.activation));
  }
  const auto declare = [&](const std::vector<std::shared_ptr<const Net>>& nets, const std::vector<LayerLaw>& laws) {
    for (std::size_t l = 0; l < nets.size(); ++l) {
      nets[l]->declare(parameters_, type);
      laws[l].declare(parameters_, type);
    }
  };
  declare(down_, down_laws_);
  require(structure_.prior_hidden >= 0, "an RBM as prior needs hidden units, not {}", structure_.prior_hidden);
  if (structure_.prior_hidden > 0) {
    require(structure_.prior == LayerKind::factorial, "a prior is an RBM or {}, not both", to_string(structure_.prior));
    rbm_prior_.emplace(structure_.latent.back(), structure_.prior_hidden, type);
    rbm_prior_->declare(parameters_);
  } else {
    prior_law_.emplace("prior.", structure_.prior, latent_.back(), structure_.nade_hidden);
    parameters_.insert(prior_name(), at::zeros({prior_law_->raw_width()}, type));
    prior_law_->declare(parameters_, type);
  }
  declare(up_, up_laws_);
}

const Distribution& SigmoidBeliefNet::values_below(std::size_t layer) const {
  if (layer == 0) return *visible_;
  return *latent_[layer - 1];
}

std::vector<std::int64_t> SigmoidBeliefNet::widths_below() const {
  std::vector<std::int64_t> widths = {visible_->width()};
  widths.insert(widths.end(), structure_.latent.begin(), structure_.latent.end() - 1);
  return widths;
}

std::vector<AffineLayer> SigmoidBeliefNet::affine_recognition() const {
  const bool affine = structure_.between.empty() && structure_.recognition == LayerKind::factorial;
  return affine ? affine_recognition(up_.size()) : std::vector<AffineLayer>{};
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
  for (std::size_t l = 0; l <= layer; ++l)
    values = up_laws_[l].mean_walk(parameters_, up_[l]->forward(parameters_, values));
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
      std::vector<Key> keys;
      for (std::int64_t draw = 0; draw < draws; ++draw)
        keys.push_back(key.fold_in(static_cast<std::uint64_t>(first_draw + draw)).fold_in(l));
      latents.push_back(up_laws_[l].sample(parameters, keys, l == 0 ? raw.unsqueeze(1) : raw));
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
    trace.log_p.push_back(down_laws_[l].log_prob(parameters, below, down_[l]->forward(parameters, h)));
    trace.log_q.push_back(up_laws_[l].log_prob(parameters, h, up_[l]->forward(parameters, below)));
  }
  trace.log_p.push_back(rbm_prior_ ? rbm_prior_->log_f(parameters, latents.back())
                                   : prior_law_->log_prob(parameters, latents.back(), parameters[prior_name()]));
  return trace;
}

Dream SigmoidBeliefNet::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a sigmoid belief net cannot draw {} rows", count);
  const c10::NoGradGuard without_gradient;
  const Key top = key.fold_in(latent_.size());
  if (rbm_prior_) return dream_below(parameters, rbm_prior_->draw(parameters, count, top), key);
  const at::Tensor raw = parameters[prior_name()].detach().expand({count, prior_law_->raw_width()}).contiguous();
  return dream_below(parameters, prior_law_->sample(parameters, top, raw), key);
}

Dream SigmoidBeliefNet::dream_below(const Moments& parameters, const at::Tensor& top, const Key& key) const {
  require(top.dim() == 2 && top.size(1) == structure_.latent.back(), "dreams of this net begin at rows of {} latents",
          structure_.latent.back());
  const c10::NoGradGuard without_gradient;
  Dream result{.visible = {}, .means = {}, .latents = std::vector<at::Tensor>(latent_.size())};
  result.latents.back() = top;
  at::Tensor raw = down_.back()->forward(parameters, top);
  for (std::size_t l = latent_.size() - 1; l-- > 0;) {
    result.latents[l] = down_laws_[l + 1].sample(parameters, key.fold_in(l + 1), raw);
    raw = down_[l]->forward(parameters, result.latents[l]);
  }
  result.visible = down_laws_[0].sample(parameters, key.fold_in(0), raw);
  result.means = down_laws_[0].means(parameters, result.visible, raw);
  return result;
}

void SigmoidBeliefNet::initialize_laws(const Key& key) {
  std::uint64_t stream = 0;
  for (const LayerLaw& law : down_laws_) law.initialize(parameters_, key.fold_in(stream++));
  for (const LayerLaw& law : up_laws_) law.initialize(parameters_, key.fold_in(stream++));
  if (prior_law_) prior_law_->initialize(parameters_, key.fold_in(stream++));
}

void initialize(SigmoidBeliefNet& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "a sigmoid belief net of {} begins at the means of {} columns, not of {}", net.visible().spec(),
          net.visible().width(), data_means.numel());
  constexpr double latent_bias = -1;
  Moments& parameters = net.parameters();
  // Biases of units; those of a NADE's hidden units, which come after them, stay zero.
  const auto biases = [&](const std::string& name, std::int64_t units) {
    return parameters[name].zero_().narrow(0, 0, units);
  };
  const std::vector<std::int64_t>& latent = net.structure().latent;
  for (std::size_t l = 0; l < latent.size(); ++l) {
    net.down(l).initialize(parameters, key.fold_in(2 * l));
    net.up(l).initialize(parameters, key.fold_in(2 * l + 1));
    biases(net.up(l).output_bias(), latent[l]).fill_(latent_bias);
    if (l > 0) biases(net.down(l).output_bias(), latent[l - 1]).fill_(latent_bias);
  }
  if (const RbmPrior* prior = net.rbm_prior()) {
    constexpr double prior_weights = 0.01;
    const BoltzmannMachine machine = prior->machine(parameters);
    // −1 but for what the hidden units add at first.
    at::Tensor weights = machine.parameters()["visible_hidden.weights"];
    weights.copy_(normal(key.fold_in(2 * latent.size()), weights.sizes(), weights.options()));
    weights.mul_(prior_weights);
    at::Tensor(machine.parameters()["visible.bias"]).fill_(latent_bias);
  } else {
    biases(SigmoidBeliefNet::prior_name(), latent.back()).fill_(latent_bias);
  }
  net.initialize_laws(key.fold_in(2 * latent.size() + 1));
  const at::Tensor bias = biases(net.down(0).output_bias(), net.visible().raw_width());
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
}

}  // namespace harmonium
