// A trained DRAW net (models/directed/draw.h) as commands and reports see it, and its file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonium/families/real_latent_model.h"
#include "harmonium/models/directed/draw.h"

namespace harmonium {

class DrawModel final : public RealLatentModel, private Encoder {
 public:
  // What options and files may ask for.
  static constexpr std::int64_t most_steps = 1000, most_numbers = 1 << 16, most_filters = 100;

  DrawModel(ModelInfo info, DrawNet net);

  [[nodiscard]] const DrawNet& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "DRAW"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override;
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;

 private:
  [[nodiscard]] nlohmann::json structure() const override;
  [[nodiscard]] Exhibit filmstrip() const;

  [[nodiscard]] const LatentModel& latent_model() const override { return net_; }
  [[nodiscard]] const Distribution& output() const override { return net_.visible(); }
  [[nodiscard]] std::string use_of_latents(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor placed(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor divergences(const at::Tensor& rows) const override;

  // Encoder: means of the latent variables of all steps.
  [[nodiscard]] std::vector<std::string> code_layers() const override { return {"latent"}; }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  DrawNet net_;
};

// "no attention", "reads 2 × 2, writes 5 × 5".
[[nodiscard]] std::string attention_words(std::int64_t read, std::int64_t write);
// Numbers in the weights.
[[nodiscard]] double weights_of(const DrawStructure& structure);
// Null where the structure of the header is another's.
[[nodiscard]] std::unique_ptr<Model> read_draw_model(const ModelHeader& header, const TensorFile& file,
                                                     const std::string& where);

}  // namespace harmonium
