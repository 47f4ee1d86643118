// A trained model of the family s3c (models/directed/s3c.h): its parameters, and the map that whitens the data before
// it sees them. Densities are in the units of the data: log p(x) = log p(v) + log|det T| with v = (x − mean) T.
#pragma once

#include "harmonium/data/whitening.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/inference/s3c_mean_field.h"

namespace harmonium {

// How rows are inferred wherever a trained model looks at some.
[[nodiscard]] inline S3cMeanFieldOptions s3c_inference() {
  return {.rounds = 50, .single_rounds = 10, .two_starts = true};
}

class S3cModel final : public NormalizedModel, private Encoder {
 public:
  S3cModel(ModelInfo info, S3c model, Whitening whitening);

  [[nodiscard]] const S3c& model() const { return model_; }
  [[nodiscard]] const Whitening& whitening() const { return whitening_; }

  [[nodiscard]] std::string title() const override { return "Spike-and-slab sparse coding"; }
  [[nodiscard]] std::string subtitle() const override;
  // With the map that whitens, which is part of the file.
  [[nodiscard]] Moments parameters() const override;
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override;
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::pair<double, double> shown_range() const override;
  [[nodiscard]] std::string remark() const override;

 private:
  [[nodiscard]] nlohmann::json structure() const override;
  // exact, mean_field or importance: what `options` come to.
  [[nodiscard]] std::string way(const EstimationOptions& options) const;
  // Density
  void check(const EstimationOptions& options) const override;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;
  [[nodiscard]] bool enumerates(const EstimationOptions& options) const override { return way(options) == "exact"; }
  // The Gaussian of the training data on the same rows, in a sentence; empty where nobody knows it.
  [[nodiscard]] std::string gaussian_beside(const TestData& test) const;
  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  // Encoder
  [[nodiscard]] std::vector<std::string> code_layers() const override { return {"spikes", "codes"}; }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;

  [[nodiscard]] S3cPosterior inferred(const at::Tensor& rows) const;

  S3c model_;
  Whitening whitening_;
};

[[nodiscard]] std::unique_ptr<Model> read_s3c(const ModelHeader& header, const TensorFile& file,
                                              const std::string& where);

}  // namespace harmonium
