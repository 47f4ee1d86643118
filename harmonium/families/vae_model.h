// Models of the family vae (models/directed/vae.h), and how their files describe them.
#pragma once

#include "harmonium/families/real_latent_model.h"
#include "harmonium/models/directed/vae.h"

namespace harmonium {

class VaeModel final : public RealLatentModel, private Encoder {
 public:
  VaeModel(ModelInfo info, Vae vae)
      : RealLatentModel(std::move(info), vae.visible().unit_spec()), vae_(std::move(vae)) {}

  static constexpr std::int64_t most_channels = 4096, most_blocks = 1000;

  [[nodiscard]] const Vae& vae() const { return vae_; }
  [[nodiscard]] std::string title() const override { return "Variational autoencoder"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] Moments parameters() const override { return vae_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<VaeModel>(info_, vae_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<VaeModel>(info_, vae_); }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    return shown_rows(input, *this);
  }
  [[nodiscard]] std::optional<StudiedNet> studied_net() const override;

 private:
  [[nodiscard]] const LatentModel& latent_model() const override { return vae_; }
  [[nodiscard]] const Distribution& output() const override { return vae_.visible(); }
  [[nodiscard]] std::string use_of_latents(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor placed(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor divergences(const at::Tensor& rows) const override;
  [[nodiscard]] nlohmann::json structure() const override;

  // Encoder: means of latent variables, each layer's given the means below.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  Vae vae_;
};

// Null where the file holds a model of another family.
[[nodiscard]] std::unique_ptr<Model> read_vae(const ModelHeader& header, const TensorFile& file,
                                              const std::string& where);

}  // namespace harmonium
