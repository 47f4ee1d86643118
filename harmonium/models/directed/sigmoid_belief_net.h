// Sigmoid belief nets (Neal 1992) with learned inference, the Helmholtz machine (Dayan, Hinton, Neal & Zemel 1995):
// layers of binary latent variables, from the data up h_1 … h_L, h_0 = x,
//
//   p(h_L) = Bernoulli(σ(b)),   p(h_{l−1} | h_l) = Bernoulli(σ(down_l(h_l))),   q(h_l | h_{l−1}) =
//   Bernoulli(σ(up_l(h_{l−1}))).
//
// down_l and up_l are affine, or have the same deterministic layers between two stochastic ones. The data may have
// another distribution than Bernoulli. All layers of p, all of q, or p(h_L) may be autoregressive in place of factorial
// (layer_law.h): each unit then sees those before it in its layer, and down_l or up_l give the biases. Z = 1, so that
// ∂log p(x, h)/∂W is the delta rule; no path leads through a binary draw, so that gradients for q come from score
// functions or weights (gradients/objectives/latent_objective.h).
//
// In place of the factorial p(h_L) a restricted Boltzmann machine may stand (rbm_prior.h). The net is then normalized
// but for the machine's log Z: log p of a Trace is larger by that, and dreams are exact only where the machine's are.
//
// Parameters are "down1.layer1.weights", "down1.layer1.bias", …, "prior.bias" (or those of the machine),
// "up1.layer1.weights", …; those of layers that are not factorial stand under the same prefixes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/distributions/bernoulli.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/models/directed/layer_law.h"
#include "harmonium/models/directed/rbm_prior.h"
#include "harmonium/nets/activation.h"
#include "harmonium/nets/net.h"

namespace harmonium {

struct SigmoidBeliefNetStructure {
  std::string visible = "bernoulli:784";     // what make_distribution() reads; no shared columns
  std::vector<std::int64_t> latent = {200};  // from the data up
  std::vector<std::int64_t> between = {};    // deterministic layers between two stochastic ones, from below
  Activation activation = Activation::tanh;  // of those
  std::int64_t prior_hidden = 0;             // hidden units of the RBM that is the prior of h_L; 0: no such prior
  // Of p(h_{l−1} | h_l), of q(h_l | h_{l−1}), and of p(h_L) where it is no RBM.
  LayerKind generation = LayerKind::factorial, recognition = LayerKind::factorial, prior = LayerKind::factorial;
  std::int64_t nade_hidden = 0;  // hidden units of layers that are NADEs; 0: as many as the layer has units

  // Whether units of every layer are independent given the other layers; of p alone.
  [[nodiscard]] bool generates_factorially() const {
    return generation == LayerKind::factorial && prior == LayerKind::factorial;
  }
  // Weights beyond those of the factorial net with the same layers.
  [[nodiscard]] double extra_weights(std::int64_t visible_width) const;
  [[nodiscard]] bool factorial() const { return generates_factorially() && recognition == LayerKind::factorial; }
};

class SigmoidBeliefNet final : public LatentModel {
 public:
  // Parameters are zero.
  explicit SigmoidBeliefNet(SigmoidBeliefNetStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const SigmoidBeliefNetStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  [[nodiscard]] const Net& down(std::size_t layer) const { return *down_[layer]; }
  [[nodiscard]] const Net& up(std::size_t layer) const { return *up_[layer]; }
  // What down(layer) gives the parameters of: values of the data, or bits of the layer below.
  [[nodiscard]] const Distribution& values_below(std::size_t layer) const;
  // Of h_0 … h_{L−1}: what recognition, and baselines, look at.
  [[nodiscard]] std::vector<std::int64_t> widths_below() const;
  // The maps from h_{l−1} to the log-odds of q(h_l | h_{l−1}), where they are affine and q is factorial; else none.
  [[nodiscard]] std::vector<AffineLayer> affine_recognition() const;
  // The same of any factorial net with so many latent layers and nothing between them.
  [[nodiscard]] static std::vector<AffineLayer> affine_recognition(std::size_t layers);

  // Of a prior that is no RBM.
  [[nodiscard]] static const char* prior_name() { return "prior.bias"; }
  // Null where the prior is none.
  [[nodiscard]] const RbmPrior* rbm_prior() const { return rbm_prior_ ? &*rbm_prior_ : nullptr; }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same net under other parameters (shared, not copied); entries that are not its own are left out.
  [[nodiscard]] SigmoidBeliefNet with_parameters(const Moments& parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] SigmoidBeliefNet to(const at::TensorOptions& options) const;

  // Draws what layers that are not factorial have of their own; part of initialize().
  void initialize_laws(const Key& key);

  // Means of h_layer+1 where those below are at their means; in a layer of q that is not factorial, those before it.
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const;

  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  // Straight-through (Hinton 2012; Bengio, Léonard & Courville 2013): forwards the draws of infer(), backwards as if h
  // = σ(a). Unbiased only where the objective is linear in every single h_j. Binary Concrete (Maddison, Mnih & Teh
  // 2017; Jang, Gu & Poole 2017): y = σ(ŷ), ŷ = (a + logit u)/τ, with densities of ŷ, which has no edge at 0 or 1. p
  // and q are relaxed alike, so that log w is one of another, relaxed model, and gradients are unbiased for its bound.
  // Fails where a layer is not factorial.
  [[nodiscard]] Trace relax(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            const Relaxation& relaxation) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;
  [[nodiscard]] Dream dream_below(const Moments& parameters, const at::Tensor& top, const Key& key) const override;
  [[nodiscard]] bool dreams_exactly() const override { return !rbm_prior_ || rbm_prior_->draws_exactly(); }

 private:
  SigmoidBeliefNetStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  std::vector<std::shared_ptr<const BernoulliDistribution>> latent_;
  std::vector<std::shared_ptr<const Net>> down_, up_;
  std::vector<LayerLaw> down_laws_, up_laws_;  // p(h_{l−1} | h_l), q(h_l | h_{l−1})
  std::optional<LayerLaw> prior_law_ = std::nullopt;
  std::optional<RbmPrior> rbm_prior_ = std::nullopt;
  Moments parameters_;
};

// Draws all nets afresh (nets/dense.h) and begins at the means of the data (visible columns). Biases of latent layers
// are −1, in p as published for reweighted wake–sleep and in q alike, so that both begin close together. The weights of
// an RBM that is the prior are ~ N(0, 0.01²), so that it begins as the factorial prior would. Layers that are not
// factorial begin as layer_law.h says.
void initialize(SigmoidBeliefNet& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
