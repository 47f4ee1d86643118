// A feed-forward net as a model: mlp (a classifier) and autoencoder.
#pragma once

#include <memory>

#include "harmonium/families/model.h"
#include "harmonium/families/net_file.h"

namespace harmonium {

class NetModel final : public Model, private Classifier, private Encoder {
 public:
  explicit NetModel(TrainedNet trained);

  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::string subtitle() const override;
  // Any real values, or word counts where the net takes shares of words.
  [[nodiscard]] const Unit& visible() const override { return *visible_; }
  [[nodiscard]] Moments parameters() const override { return trained_.net.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    auto copy = std::make_unique<NetModel>(trained_);
    copy->info() = info_;
    return copy;
  }

  [[nodiscard]] const Classifier* classifier() const override { return classifies() ? this : nullptr; }
  [[nodiscard]] const Encoder* encoder() const override { return code_layers().empty() ? nullptr : this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string encode_file() const override;

  [[nodiscard]] const TrainedNet& trained() const { return trained_; }
  [[nodiscard]] const FeedForward& net() const { return trained_.net; }

 private:
  [[nodiscard]] bool classifies() const { return !trained_.net.code().has_value(); }
  [[nodiscard]] bool of_words() const { return trained_.net.input_form() == InputForm::shares; }

  [[nodiscard]] std::int64_t classes() const override { return trained_.net.outputs(); }
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const override;
  // The code of an autoencoder; of a classifier, its hidden layers.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override { return trained_.net.forward(rows); }
  [[nodiscard]] bool reconstructs() const override { return !classifies() && !of_words(); }

  TrainedNet trained_;
  std::shared_ptr<const Unit> visible_;
};

}  // namespace harmonium
