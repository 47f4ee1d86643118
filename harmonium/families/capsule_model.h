// Capsules as a model: they describe pictures and draw them again (models/capsules/capsule_autoencoder.h).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/families/model.h"
#include "harmonium/models/capsules/capsule_autoencoder.h"

namespace harmonium {

struct ModelHeader;
struct TensorFile;

class CapsuleModel final : public Model, private Encoder {
 public:
  CapsuleModel(ModelInfo info, CapsuleAutoencoder capsules);

  [[nodiscard]] const CapsuleAutoencoder& capsules() const { return capsules_; }
  [[nodiscard]] std::string title() const override { return "Capsule autoencoder"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return *visible_; }
  [[nodiscard]] Moments parameters() const override { return capsules_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    return std::make_unique<CapsuleModel>(info_, capsules_);
  }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string encode_file() const override;

 private:
  // Encoder. "composite": the manager's shares; "nice": intensity, pose and distortions of the whole (without
  // composites: of each part); "world": for each part its intensities and where the picture lies on it.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  // Without gradients, a thousand rows at a time, each on the CPU.
  template <class Of>
  [[nodiscard]] at::Tensor by_pieces(const at::Tensor& rows, const Of& of) const;

  CapsuleAutoencoder capsules_;
  std::shared_ptr<const Unit> visible_;
};

// What files call output models: "semisoft".
[[nodiscard]] OutputModel parse_output_model(const std::string& name);
[[nodiscard]] std::string to_string(OutputModel model);
// "semisoft, sum, …", for help texts.
[[nodiscard]] std::string output_model_names();

[[nodiscard]] std::unique_ptr<Model> read_capsules(const ModelHeader& header, const TensorFile& file,
                                                   const std::string& where);

}  // namespace harmonium
