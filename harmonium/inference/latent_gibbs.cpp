#include "harmonium/inference/latent_gibbs.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/inference/kept_rows.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// log p(h_l | what is above it) for h_lj = 1 less that for h_lj = 0.
class FromAbove {
 public:
  FromAbove(const SigmoidBeliefNet& net, const Moments& parameters, const std::vector<at::Tensor>& latents,
            std::size_t layer)
      : parameters_(parameters), prior_(layer + 1 < latents.size() ? nullptr : net.rbm_prior()) {
    if (layer + 1 < latents.size())
      fields_ = net.down(layer + 1).forward(parameters, latents[layer + 1]);
    else if (prior_ == nullptr)
      fields_ = parameters[SigmoidBeliefNet::prior_name()].unsqueeze(0);
  }
  // Of unit j, in the state of the layer.
  [[nodiscard]] at::Tensor log_odds(std::int64_t j, const at::Tensor& state) const {
    if (prior_ == nullptr) return fields_.select(1, j).to(at::kDouble);
    return log_f(state, j, 1) - log_f(state, j, 0);
  }

 private:
  [[nodiscard]] at::Tensor log_f(const at::Tensor& state, std::int64_t j, double value) const {
    at::Tensor other = state.clone();
    other.select(1, j).fill_(value);
    return prior_->log_f(parameters_, other);
  }

  const Moments& parameters_;
  const RbmPrior* prior_;
  at::Tensor fields_;
};

void sweep_layer(const SigmoidBeliefNet& net, const Moments& parameters, const at::Tensor& rows,
                 std::vector<at::Tensor>& latents, std::size_t layer, const Key& key) {
  const Distribution& law = net.values_below(layer);
  const at::Tensor& below = layer == 0 ? rows : latents[layer - 1];
  const at::Tensor weights = parameters[format("down{}.layer1.weights", layer + 1)];
  const FromAbove above(net, parameters, latents, layer);
  at::Tensor h = latents[layer].clone();
  at::Tensor raw = net.down(layer).forward(parameters, h);  // of the law below, as h is
  const at::Tensor chances = uniform(key, {h.size(1), h.size(0)}, h.options().dtype(at::kDouble));
  for (std::int64_t j = 0; j < h.size(1); ++j) {
    const at::Tensor was = h.select(1, j).unsqueeze(1), row = weights[j].unsqueeze(0);
    const at::Tensor raw_off = raw - was * row, raw_on = raw_off + row;
    const at::Tensor log_odds = law.log_prob(below, raw_on) - law.log_prob(below, raw_off) + above.log_odds(j, h);
    const at::Tensor now = chances[j].lt(log_odds.sigmoid()).to(h.scalar_type());
    h.select(1, j).copy_(now);
    raw = at::where(now.unsqueeze(1).gt(0), raw_on, raw_off);
  }
  latents[layer] = h;
}

}  // namespace

std::vector<at::Tensor> gibbs_sweeps(const SigmoidBeliefNet& net, const Moments& parameters, const at::Tensor& rows,
                                     std::vector<at::Tensor> latents, std::int64_t sweeps, const Key& key) {
  const std::vector<std::int64_t>& widths = net.structure().latent;
  require(net.structure().between.empty(),
          "Gibbs sampling of a belief net's latents needs layers that follow each other directly; leave out the "
          "deterministic layers between them");
  require(net.structure().generates_factorially(),
          "Gibbs sampling of a belief net's latents needs factorial layers of p, and a prior that is factorial or an "
          "RBM");
  require(latents.size() == widths.size(), "a sigmoid belief net of {} latent layers was given latents of {}",
          widths.size(), latents.size());
  for (std::size_t l = 0; l < latents.size(); ++l)
    require(latents[l].dim() == 2 && latents[l].size(0) == rows.size(0) && latents[l].size(1) == widths[l],
            "latents of layer {} are rows × {}, with as many rows as the data ({})", l + 1, widths[l], rows.size(0));
  const c10::NoGradGuard without_gradient;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t l = 0; l < latents.size(); ++l)
      sweep_layer(net, parameters, rows, latents, l, key.fold_in(static_cast<std::uint64_t>(sweep)).fold_in(l));
  return latents;
}

LatentGibbs::LatentGibbs(const SigmoidBeliefNet& net, std::int64_t rows, std::int64_t sweeps, const Key& key)
    : sweeps_(sweeps) {
  require(sweeps >= 1, "Gibbs sampling needs at least one sweep at every visit of a row, not {}", sweeps);
  for (const at::Tensor& each : net.dream(net.parameters(), rows, key).latents) kept_.push_back(each.to(at::kByte));
}

std::vector<at::Tensor> LatentGibbs::visit(const SigmoidBeliefNet& net, const Moments& parameters,
                                           const at::Tensor& rows, const at::Tensor& numbers, const Key& key) {
  require(rows.size(0) == numbers.size(0), "{} row numbers for a batch of {} rows", numbers.size(0), rows.size(0));
  std::vector<at::Tensor> latents;
  for (const at::Tensor& kept : kept_) latents.push_back(kept.index_select(0, numbers).to(rows.scalar_type()));
  latents = gibbs_sweeps(net, parameters, rows, std::move(latents), sweeps_, key);
  for (std::size_t l = 0; l < kept_.size(); ++l) keep_rows(kept_[l], numbers, latents[l]);
  return latents;
}

NamedTensors LatentGibbs::state() const {
  NamedTensors all;
  for (std::size_t l = 0; l < kept_.size(); ++l) all.emplace_back(format("rows.{}", l), kept_[l]);
  return all;
}

void LatentGibbs::restore(const NamedTensors& saved) {
  for (std::size_t l = 0; l < kept_.size(); ++l) {
    const at::Tensor found = find_tensor(saved, format("rows.{}", l), "latents of training rows");
    require(found.sizes() == kept_[l].sizes() && found.scalar_type() == at::kByte && found.le(1).all().item<bool>(),
            "latents of training rows: the saved states are of other rows or units than those of this training");
    kept_[l].copy_(found);
  }
}

}  // namespace harmonium
