// Models of the families made, fvbn and neural_autoregressive, which differ in their options alone
// (models/autoregressive/masked_net.h).
#pragma once

#include "harmonium/families/family.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/models/autoregressive/masked_net.h"

namespace harmonium {

class MaskedNetModel final : public ExactModel {
 public:
  MaskedNetModel(ModelInfo info, MaskedNet net)
      : ExactModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const MaskedNet& net() const { return net_; }
  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<MaskedNetModel>(info_, net_); }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;

 private:
  [[nodiscard]] nlohmann::json structure() const override;
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions& options,
                                                Watcher& watcher) const override;
  [[nodiscard]] std::string exact_method(const EstimationOptions& options) const override;
  void verify() const override;
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  [[nodiscard]] bool completes() const override { return net_.masks() == 1; }

  MaskedNet net_;
};

// The distribution of autoregressive nets for visible units of this type: "gaussian:11" as "gaussian:11:0.01". Fails
// where `who` has none for it.
[[nodiscard]] std::string autoregressive_visible(const std::string& visible, const std::string& who);

// "order": raster, or random:SEED; "auto" becomes the first where there is one mask, else random orders.
[[nodiscard]] std::string resolved_order(const std::string& order, std::int64_t masks, std::uint64_t seed,
                                         std::int64_t variables);

// What these families do once their options are read.
[[nodiscard]] std::unique_ptr<Model> make_masked_net(const RunConfig& config, const RunData& data,
                                                     MaskedNetStructure structure);
[[nodiscard]] std::unique_ptr<Trainee> train_masked_net(const RunConfig& config, const RunData& data,
                                                        const Model& start);
[[nodiscard]] std::unique_ptr<Model> read_masked_net(const ModelHeader& header, const TensorFile& file,
                                                     const std::string& where);
// Parameters that end in ".weights" decay and move at the rate of weights, the others at that of biases.
[[nodiscard]] std::vector<ParameterGroup> groups_by_name(const Moments& parameters);

}  // namespace harmonium
