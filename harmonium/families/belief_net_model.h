// A deep belief net as a model: dbn and classification_dbn, tied or with a way up of its own.
#pragma once

#include <memory>

#include "harmonium/families/machine_file.h"
#include "harmonium/families/model.h"

namespace harmonium {

class BeliefNetModel final : public Model, private Density, private Generator, private Classifier, private Encoder {
 public:
  explicit BeliefNetModel(TrainedStack trained);

  [[nodiscard]] std::string title() const override { return "Deep belief net"; }
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return net_.up.front().unit(0); }
  [[nodiscard]] Moments parameters() const override;
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    auto copy = std::make_unique<BeliefNetModel>(trained_);
    copy->info() = info_;
    return copy;
  }

  [[nodiscard]] const Density* density() const override { return this; }
  [[nodiscard]] const Generator* generator() const override { return this; }
  [[nodiscard]] const Classifier* classifier() const override { return net_.labelled() ? this : nullptr; }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string encode_file() const override;

  [[nodiscard]] const TrainedStack& trained() const { return trained_; }
  [[nodiscard]] const BeliefNet& net() const { return net_; }

 private:
  // Density: a bound on the log-likelihood (likelihood/belief_net_bound.h), by log Z of the top machine.
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;
  [[nodiscard]] bool enumerates(const EstimationOptions& options) const override;
  [[nodiscard]] double products(const EstimationOptions& options, bool with_data) const override;
  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "gibbs in the top machine, then down"; }
  [[nodiscard]] bool walks() const override { return true; }
  [[nodiscard]] double products(std::int64_t count) const override;
  // Classifier, and classes that a generator can hold.
  [[nodiscard]] std::int64_t classes() const override;
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const override;
  // Encoder: means of the way up.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  TrainedStack trained_;
  BeliefNet net_;
};

}  // namespace harmonium
