// A trained sigmoid belief net as a Model (models/directed/sigmoid_belief_net.h), with a factorial prior or under an
// RBM.
#pragma once

#include <optional>

#include "harmonium/families/normalized_model.h"
#include "harmonium/gradients/objectives/studied_net.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

class SbnModel final : public NormalizedModel, private Encoder {
 public:
  SbnModel(ModelInfo info, SigmoidBeliefNet net)
      : NormalizedModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const SigmoidBeliefNet& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "Sigmoid belief net"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<SbnModel>(info_, net_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<SbnModel>(info_, net_); }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput&) const override;
  [[nodiscard]] std::optional<StudiedNet> studied_net() const override;
  [[nodiscard]] std::string remark() const override {
    return "Log-likelihoods are lower bounds, in nats per row. Numbers under different binarizations are not "
           "comparable.";
  }

 private:
  [[nodiscard]] at::Device device() const { return net_.parameters().entries().front().second.device(); }
  [[nodiscard]] nlohmann::json structure() const override;
  [[nodiscard]] Exhibit chains_of_prior() const;

  // Density: importance-weighted bound, less log Z of an RBM that is the prior.
  void check(const EstimationOptions& options) const override;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override;
  [[nodiscard]] bool markov() const override { return !net_.dreams_exactly(); }

  // Encoder: means of latent layers, each given the means below.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] bool reconstructs() const override { return false; }

  SigmoidBeliefNet net_;
};

// Family::read of sbn.
[[nodiscard]] std::unique_ptr<Model> read_sbn(const ModelHeader& header, const TensorFile& file,
                                              const std::string& where);

}  // namespace harmonium
