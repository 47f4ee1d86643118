// Models of the family ladder (models/directed/ladder.h), and how their files describe them.
#pragma once

#include "harmonium/families/real_latent_model.h"
#include "harmonium/models/directed/ladder.h"

namespace harmonium {

class LadderModel final : public RealLatentModel, private Encoder {
 public:
  LadderModel(ModelInfo info, Ladder ladder)
      : RealLatentModel(std::move(info), ladder.visible().unit_spec()), ladder_(std::move(ladder)) {}

  static constexpr std::int64_t most_channels = 4096, most_blocks = 1000, most_kernel = 99, most_levels = 100;

  [[nodiscard]] const Ladder& ladder() const { return ladder_; }
  [[nodiscard]] std::string title() const override { return "Ladder"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] Moments parameters() const override { return ladder_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<LadderModel>(info_, ladder_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<LadderModel>(info_, ladder_); }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    return shown_rows(input, *this);
  }

 private:
  [[nodiscard]] const LatentModel& latent_model() const override { return ladder_; }
  [[nodiscard]] const Distribution& output() const override { return ladder_.visible(); }
  [[nodiscard]] std::string use_of_latents(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor placed(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor divergences(const at::Tensor& rows) const override;
  [[nodiscard]] nlohmann::json structure() const override;

  // Encoder: means of the latent variables z of a level, given the means above.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;
  // What `take` makes of most probable walks over the rows, a part of them at a time.
  template <class Take>
  [[nodiscard]] at::Tensor walked(const at::Tensor& rows, const Take& take) const;

  Ladder ladder_;
};

// Null where the file holds a model of another family.
[[nodiscard]] std::unique_ptr<Model> read_ladder(const ModelHeader& header, const TensorFile& file,
                                                 const std::string& where);

}  // namespace harmonium
