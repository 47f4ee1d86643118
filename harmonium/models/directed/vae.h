// A variational autoencoder with dense nets (Kingma & Welling 2014; Rezende, Mohamed & Wierstra 2014):
//
//   p(z) = N(0, I),   p(x | z) = the visible distribution of decoder(z),
//   q(z | x) = N(μ(x), diag σ²(x)),   (μ, log σ) = encoder(x).
//
// The encoder has widths visible – hidden… – 2·latent, the decoder the same mirrored, latent – …hidden – raw columns of
// the visible distribution. Parameters are "encoder.layer1.weights", "encoder.layer1.bias", …,
// "decoder.layer1.weights", …, and "visible.shared" where the visible distribution has columns that are the same in
// every row (one standard deviation for all pixels).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonium/distributions/distribution.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/models/directed/latent_model.h"
#include "harmonium/nets/activation.h"
#include "harmonium/nets/net.h"

namespace harmonium {

struct VaeStructure {
  std::string visible = "bernoulli:784";          // what make_distribution() reads
  std::vector<std::int64_t> hidden = {200, 200};  // of the encoder, from the data up; may be empty
  std::int64_t latent = 50;
  Activation activation = Activation::tanh;
};

class Vae final : public LatentModel {
 public:
  // Parameters are zero.
  explicit Vae(VaeStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const VaeStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  [[nodiscard]] const GaussianDistribution& latent() const { return latent_; }
  [[nodiscard]] const Net& encoder() const { return *encoder_; }
  [[nodiscard]] const Net& decoder() const { return *decoder_; }

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
  [[nodiscard]] Posterior encode(const at::Tensor& rows) const;
  // E[x | z], … × visible.
  [[nodiscard]] at::Tensor decode(const at::Tensor& latents) const;
  // E[x | z = μ(x)].
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;
  [[nodiscard]] Dream sample(const Key& key, std::int64_t count) const;

  // Under given parameters. Raw columns of q(z | x) and of p(x | z), the shared ones put beside what the decoder gives.
  [[nodiscard]] at::Tensor posterior_raw(const Moments& parameters, const at::Tensor& rows) const;
  [[nodiscard]] at::Tensor visible_raw(const Moments& parameters, const at::Tensor& latents) const;
  // Raw columns of the prior, one row.
  [[nodiscard]] at::Tensor prior_raw(const Moments& parameters) const;
  [[nodiscard]] Trace infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                            std::int64_t first_draw = 0) const override;
  [[nodiscard]] Trace score(const Moments& parameters, const at::Tensor& rows,
                            const std::vector<at::Tensor>& latents) const override;
  [[nodiscard]] Dream dream(const Moments& parameters, std::int64_t count, const Key& key) const override;

 private:
  [[nodiscard]] Trace scored(const Moments& parameters, const at::Tensor& rows, const at::Tensor& raw,
                             const at::Tensor& latents) const;

  VaeStructure structure_;
  std::shared_ptr<const Distribution> visible_;
  GaussianDistribution latent_;
  std::shared_ptr<const Net> encoder_, decoder_;
  Moments parameters_;
};

// Draws both nets afresh (nets/dense.h) and lets the decoder begin at the means of the data (visible columns): its last
// bias is what gives them, clipped, when all else is zero. Shared columns are zero.
void initialize(Vae& vae, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
