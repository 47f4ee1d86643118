// A variational autoencoder (Kingma & Welling 2014; Rezende, Mohamed & Wierstra 2014):
//
//   p(z) = N(0, I),   p(x | z) = the visible distribution of decoder(z),
//   q(z | x) = N(μ(x), diag σ²(x)),   (μ, log σ) = encoder(x).
//
// With several layers of latent variables (Burda, Grosse & Salakhutdinov 2016), p(x, z) = p(x | z_1) Π p(z_l | z_{l+1})
// with p(z_L) = N(0, I), and inference goes upwards, q(z | x) = q(z_1 | x) Π q(z_{l+1} | z_l). Every conditional of a
// z_l is a Gaussian whose means and log deviations a net puts out.
//
// The encoder of a layer has widths (layer below) – hidden… – 2·latent, the decoder the same mirrored, latent – …hidden
// – raw columns of what is below. Parameters are "encoder.layer1.weights", "encoder.layer1.bias", …,
// "decoder.layer1.weights", …, "encoder2.layer1.weights", … of the second layer of latent variables, and
// "visible.shared" where the visible distribution has columns that are the same in every row (one standard deviation
// for all pixels). For pictures the two nets next to the data may be of convolutions (nets/picture_net.h) with
// parameters such as "encoder.stem.weights" and "decoder.output.bias"; `hidden` is then not used there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/nets/activation.h"
#include "harmonium/nets/net.h"
#include "harmonium/nets/picture_net.h"

namespace harmonium {

// A layer of latent variables, with the deterministic layers between it and what is below, from the data up.
struct VaeLevel {
  std::vector<std::int64_t> hidden = {};
  std::int64_t latent = 50;
};

struct VaeStructure {
  std::string visible = "bernoulli:784";          // what make_distribution() reads
  std::vector<std::int64_t> hidden = {200, 200};  // of the encoder, from the data up; may be empty
  std::int64_t latent = 50;
  Activation activation = Activation::tanh;
  std::vector<VaeLevel> above = {};                       // further layers of latent variables
  std::optional<PictureNetShape> picture = std::nullopt;  // convolutions next to the data; else dense nets

  // All of them, from the data up.
  [[nodiscard]] std::vector<VaeLevel> levels() const;
};

class Vae final : public LatentModel, private Decoder {
 public:
  // Parameters are zero.
  explicit Vae(VaeStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const VaeStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  // Layers of latent variables, numbered from 0 at the data.
  [[nodiscard]] std::size_t levels() const { return latent_.size(); }
  [[nodiscard]] const GaussianDistribution& latent(std::size_t level = 0) const { return latent_.at(level); }
  // The nets between a layer of latent variables and what is below: its encoder and its decoder.
  [[nodiscard]] const Net& up(std::size_t level) const { return *up_.at(level); }
  [[nodiscard]] const Net& down(std::size_t level) const { return *down_.at(level); }

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied).
  [[nodiscard]] Vae with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] Vae to(const at::TensorOptions& options) const;

  // Under its own parameters.
  struct Posterior {
    at::Tensor means, log_deviations;  // rows × latent
  };
  // q of a layer of latent variables, given the means of those below.
  [[nodiscard]] Posterior encode(const at::Tensor& rows, std::size_t level = 0) const;
  // E[x | z_1], … × visible.
  [[nodiscard]] at::Tensor decode(const at::Tensor& latents) const;
  // E[x | z_1 = μ(x)].
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;
  [[nodiscard]] Dream sample(const Key& key, std::int64_t count) const;

  // Under given parameters. Raw columns of q(z_l | what is below), and of p(x | z_1), the shared ones put beside what
  // the decoder gives.
  [[nodiscard]] at::Tensor posterior_raw(const Moments& parameters, const at::Tensor& below,
                                         std::size_t level = 0) const;
  [[nodiscard]] at::Tensor visible_raw(const Moments& parameters, const at::Tensor& latents) const;
  // Raw columns of p(z_l | z_{l+1}): of the last layer one row, `above` being undefined.
  [[nodiscard]] at::Tensor prior_raw(const Moments& parameters, std::size_t level, const at::Tensor& above) const;
  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;
  [[nodiscard]] const Decoder* decoder() const override { return this; }

 private:
  // `raws`: of q, layer by layer.
  [[nodiscard]] Trace scored(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& raws,
                             const std::vector<at::Tensor>& latents) const;

  // Decoder
  [[nodiscard]] std::int64_t noise_width() const override;
  [[nodiscard]] std::vector<at::Tensor> latents(const Moments& parameters, const at::Tensor& noise) const override;
  [[nodiscard]] at::Tensor noise(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor means(const Moments& parameters, const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] at::Tensor log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                          const std::vector<at::Tensor>& latents) const override;

  VaeStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  std::vector<GaussianDistribution> latent_;
  std::vector<std::shared_ptr<const Net>> up_, down_;
  Moments parameters_;
};

// Draws all nets afresh (nets/dense.h) and lets the decoder begin at the means of the data (visible columns): its last
// bias is what gives them, clipped, when all else is zero. Shared columns are zero.
void initialize(Vae& vae, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
