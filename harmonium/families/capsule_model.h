// Capsules as a model: they describe pictures and draw them again (models/capsules/capsule_autoencoder.h).
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/families/model.h"
#include "harmonium/models/capsules/pose_prior.h"

namespace harmonium {

struct ModelHeader;
struct TensorFile;

class CapsuleModel final : public Model, private Generator, private Encoder {
 public:
  CapsuleModel(ModelInfo info, CapsuleAutoencoder capsules, PosePrior prior);

  [[nodiscard]] const CapsuleAutoencoder& capsules() const { return capsules_; }
  [[nodiscard]] std::string title() const override { return "Capsule autoencoder"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return *visible_; }
  // With the Gaussians of poses, which are part of the file.
  [[nodiscard]] Moments parameters() const override;
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    return std::make_unique<CapsuleModel>(info_, capsules_, prior_);
  }
  [[nodiscard]] const Generator* generator() const override { return this; }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string encode_file() const override;

 private:
  // Generator: samples by posing.
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override;
  [[nodiscard]] bool markov() const override { return false; }
  [[nodiscard]] double products(std::int64_t count) const override;

  // Encoder. "composite": the manager's shares; "nice": intensity, pose and distortions of the whole (without
  // composites: of each part); "world": for each part its intensities and where the picture lies on it.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  // Without gradients, a thousand rows at a time, each on the CPU.
  template <class Of>
  [[nodiscard]] at::Tensor by_pieces(const at::Tensor& rows, const Of& of) const;

  CapsuleAutoencoder capsules_;
  PosePrior prior_;
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
