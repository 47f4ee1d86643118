// Capsules as a model: they describe pictures and draw them again (models/capsules/capsule_autoencoder.h).
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/core/device.h"
#include "harmonium/families/model.h"
#include "harmonium/models/capsules/pose_prior.h"

namespace harmonium {

struct ModelHeader;
struct TensorFile;

class CapsuleModel final : public Model, private Generator, private Encoder, private Clusters, private Poser {
 public:
  // `steps` of refinement (models/capsules/refinement.h) for every picture that is looked at; 0: none.
  CapsuleModel(ModelInfo info, CapsuleAutoencoder capsules, PosePrior prior, std::int64_t steps = 0);

  [[nodiscard]] const CapsuleAutoencoder& capsules() const { return capsules_; }
  [[nodiscard]] std::string title() const override { return "Capsule autoencoder"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return *visible_; }
  // With the Gaussians of poses, which are part of the file.
  [[nodiscard]] Moments parameters() const override;
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    return std::make_unique<CapsuleModel>(info_, capsules_, prior_, steps_);
  }
  [[nodiscard]] std::unique_ptr<Model> refined_by(std::int64_t steps) const override;
  [[nodiscard]] const Generator* generator() const override { return this; }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  // Null without composites.
  [[nodiscard]] const Clusters* clusters() const override { return capsules_.shape().composites > 0 ? this : nullptr; }
  [[nodiscard]] const Poser* poser() const override { return capsules_.shape().composites > 0 ? this : nullptr; }
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

  // Clusters: composites, by the manager's preferences without noise.
  [[nodiscard]] std::string group_name() const override { return "composite"; }
  [[nodiscard]] std::int64_t groups() const override { return capsules_.shape().composites; }
  [[nodiscard]] at::Tensor log_weights(const at::Tensor& rows) const override;

  // Poser: wholes are composites.
  [[nodiscard]] std::int64_t wholes() const override { return capsules_.shape().composites; }
  [[nodiscard]] std::vector<std::string> movable() const override;
  [[nodiscard]] at::Tensor sweep(std::int64_t whole, const std::string& moved, std::int64_t steps) const override;
  [[nodiscard]] at::Tensor around(const at::Tensor& row, double spread, std::int64_t count,
                                  std::uint64_t seed) const override;
  [[nodiscard]] Tries tries(const at::Tensor& rows) const override;
  [[nodiscard]] at::Tensor parts_of(const at::Tensor& rows) const override;

  [[nodiscard]] Scene describe(const at::Tensor& images) const;
  // Without gradients, a thousand rows at a time, each on the CPU.
  template <class Of>
  [[nodiscard]] at::Tensor by_pieces(const at::Tensor& rows, const Of& of) const;

  [[nodiscard]] std::vector<Exhibit> exhibits_of_rows(const Dataset& train) const;

  CapsuleAutoencoder capsules_;
  PosePrior prior_;
  std::shared_ptr<const Unit> visible_;
  std::int64_t steps_ = 0;
};

template <class Of>
at::Tensor CapsuleModel::by_pieces(const at::Tensor& rows, const Of& of) const {
  constexpr std::int64_t at_once = 1000;
  const c10::NoGradGuard no_gradients;
  const at::TensorOptions options = parameters()["templates"].options();
  std::vector<at::Tensor> pieces;
  for (std::int64_t first = 0; first == 0 || first < rows.size(0); first += at_once)
    pieces.push_back(
        on_cpu(of(rows.narrow(0, first, std::min(at_once, rows.size(0) - first)).to(options))).to(at::kFloat));
  return at::cat(pieces);
}

// What files call output models: "semisoft".
[[nodiscard]] OutputModel parse_output_model(const std::string& name);
[[nodiscard]] std::string to_string(OutputModel model);
// "semisoft, sum, …", for help texts.
[[nodiscard]] std::string output_model_names();

[[nodiscard]] std::unique_ptr<Model> read_capsules(const ModelHeader& header, const TensorFile& file,
                                                   const std::string& where);

}  // namespace harmonium
