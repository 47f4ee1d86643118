// A variational autoencoder with a ladder of latent variables, z_L above … above z_1 above the data, whose inference
// runs down the same way as generation (Sønderby et al. 2016; Kingma et al. 2016; Maaløe et al. 2019):
//
//   p(z_l | z_{>l})    = N(μ_p, diag σ_p²),                      (μ_p, log σ_p) from the state h above level l
//   q(z_l | x, z_{>l}) = N(μ_p + σ_p Δμ, diag (σ_p Δσ)²),        (Δμ, log Δσ) from h and from d_l(x)
//   p(x | z)           = the visible distribution of what the pass downwards puts out
//
// The pass upwards, d_1 … d_L, is deterministic, and h is one state for p and q (nets/ladder_net.h): the prior of the
// top level, too, comes from a learned state. KL(q ‖ p) of level l given the levels above is
//
//   KL_l = Σ ½(Δμ² + Δσ² − 1) − log Δσ,
//
// whatever μ_p and σ_p are. So latents are given as ε_l = (z_l − μ_p)/σ_p everywhere: p(ε) = N(0, I) for all levels
// together, q(ε_l | x, ε_{>l}) = N(Δμ, diag Δσ²), and the whole net is a decoder of ε; densities of z and of ε have the
// same ratio p/q. The net is dense, or of convolutions over pictures with levels at several resolutions. It has no
// batch norm nor any other state but its parameters; parameters of standard deviations are kept within e^±7.
//
// Cost: one pass upwards for a row and one downwards for each draw (LadderNet::products).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/nets/ladder_net.h"

namespace harmonium {

struct LadderStructure {
  std::string visible = "bernoulli:784";    // what make_distribution() reads
  std::int64_t height = 0, width = 0;       // of the picture; 0: a dense net
  std::vector<std::int64_t> latent = {32};  // variables of each level from the data up; of a picture at each place
  std::vector<std::int64_t> scales = {};    // of a picture: how many times it is halved for each level
  std::int64_t channels = 64, blocks = 1;   // units of a layer of a dense net, and blocks of each level
  std::int64_t kernel = 3;                  // of a picture
};

// Of some draws of some rows, rows × draws = count.
struct LadderLevel {
  at::Tensor prior;      // count × 2·width: (μ_p, log σ_p)
  at::Tensor posterior;  // the same: (Δμ, log Δσ); undefined without data
  at::Tensor noise;      // count × width: ε
  at::Tensor latents;    // the same: z = μ_p + σ_p ε
};
struct LadderWalk {
  std::vector<LadderLevel> levels;  // from the data up
  at::Tensor visible_raw;           // count × raw columns of p(x | z)
};
// ε of a level (0: next to the data) whose prior and posterior are known.
using ChooseNoise = std::function<at::Tensor(std::size_t number, const LadderLevel& level)>;

class Ladder final : public LatentModel, private Decoder {
 public:
  // The net of a structure, before anything is allocated. Fails where numbers do not fit together.
  [[nodiscard]] static LadderNetShape net_shape(const LadderStructure& structure);
  // Parameters are zero.
  explicit Ladder(LadderStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const LadderStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  [[nodiscard]] const LadderNet& net() const { return *net_; }
  [[nodiscard]] std::size_t levels() const { return latents_.size(); }
  // The law of a level, given its mean and log deviation side by side.
  [[nodiscard]] const GaussianDistribution& latent(std::size_t level) const { return latents_[level]; }
  // Numbers in all levels together.
  [[nodiscard]] std::int64_t noise_width() const override;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied).
  [[nodiscard]] Ladder with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] Ladder to(const at::TensorOptions& options) const;
  // The same model with a share of the values inside blocks dropped: the same ones wherever it is asked about as many
  // rows and draws.
  [[nodiscard]] Ladder dropping(double share, const Key& key) const;

  // The same model, which works with so many numbers of a tensor at once where no gradient is wanted.
  [[nodiscard]] Ladder in_pieces_of(std::int64_t numbers) const;

  // Both passes, `draws` times for every row.
  [[nodiscard]] LadderWalk walk(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                                const ChooseNoise& choose) const;
  // The pass downwards alone, without data.
  [[nodiscard]] LadderWalk walk(const Moments& parameters, std::int64_t count, const ChooseNoise& choose) const;
  // Draw number `first_draw` and those after it of q(ε | x): element i of a draw depends on the key, the draw and i.
  [[nodiscard]] ChooseNoise posterior_draws(const Key& key, std::int64_t draws, std::int64_t first_draw = 0) const;
  // Δμ; without data 0.
  [[nodiscard]] ChooseNoise most_probable() const;
  // KL_l of every variable, count × width, for a level that has a posterior.
  [[nodiscard]] at::Tensor kl(std::size_t number, const LadderLevel& level) const;

  // The decoder: log p(x | ε), rows × K, float64. `noise`: rows × K × noise_width, level 1 first.
  [[nodiscard]] at::Tensor log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                          const at::Tensor& noise) const;

  // Latents are ε_1 … ε_L. Where no gradient is wanted, draws are taken in pieces that bound memory.
  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;
  // Of ε, which are the latents.
  [[nodiscard]] const Decoder* decoder() const override { return this; }

 private:
  // Decoder
  [[nodiscard]] std::vector<at::Tensor> latents(const Moments& parameters, const at::Tensor& noise) const override;
  [[nodiscard]] at::Tensor noise(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor means(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                          const std::vector<at::Tensor>& latents) const override;

  // Raw columns of p(x | z) of noise that is … × noise_width.
  [[nodiscard]] at::Tensor raw_of(const Moments& parameters, const at::Tensor& noise) const;
  [[nodiscard]] LadderPass begin(const Moments& parameters) const;
  [[nodiscard]] std::vector<at::Tensor> look(LadderPass& pass, const at::Tensor& rows) const;
  [[nodiscard]] LadderWalk descend(LadderPass& pass, const std::vector<at::Tensor>& known, std::int64_t draws,
                                   std::int64_t count, const Moments& parameters, const ChooseNoise& choose) const;
  [[nodiscard]] Trace traced(const at::Tensor& rows, std::int64_t draws, const LadderWalk& walk) const;

  LadderStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  std::shared_ptr<const LadderNet> net_;
  std::vector<GaussianDistribution> latents_;
  Moments parameters_;
  std::int64_t numbers_at_once_ = 1 << 26;
  double dropout_ = 0;
  Key dropout_key_ = Key(0);
};

// Draws the net afresh (nets/ladder_net.h). The model begins at the means of the data (visible columns), clipped.
void initialize(Ladder& ladder, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
