// A trained variational recurrent net (models/directed/vrnn.h) as commands and reports see it, and its file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonium/families/normalized_model.h"
#include "harmonium/models/directed/vrnn.h"

namespace harmonium {

class VrnnModel final : public NormalizedModel {
 public:
  // What options and files may ask for.
  static constexpr std::int64_t most_numbers = 1 << 16, most_frames = 1 << 20;

  // `frames`: of a usual sequence of the training data.
  VrnnModel(ModelInfo info, Vrnn net, std::int64_t frames);

  [[nodiscard]] const Vrnn& net() const { return net_; }
  [[nodiscard]] std::int64_t usual_frames() const { return frames_; }
  [[nodiscard]] std::string title() const override { return "Variational recurrent net"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override;
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;

 private:
  [[nodiscard]] nlohmann::json structure() const override;

  // Density
  void check(const EstimationOptions& options) const override;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  [[nodiscard]] std::int64_t frames() const override { return frames_ > 1 ? frames_ : 0; }

  Vrnn net_;
  std::int64_t frames_;
};

// Numbers in the weights.
[[nodiscard]] double weights_of(const VrnnStructure& structure);
// Null where the structure of the header is another's.
[[nodiscard]] std::unique_ptr<Model> read_vrnn_model(const ModelHeader& header, const TensorFile& file,
                                                     const std::string& where);

}  // namespace harmonium
