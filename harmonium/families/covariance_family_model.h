// A trained model of the families pot, mpot, covariance_rbm and mcrbm (models/free_energy/covariance_model.h): its
// parameters, and the map that whitens the data before it sees them.
//
// Densities are in the units of the data: log p(x) = log f(v) − log Z + log|det T| with v = (x − mean)T.
#pragma once

#include "harmonium/data/whitening.h"
#include "harmonium/families/model.h"
#include "harmonium/models/free_energy/covariance_model.h"

namespace harmonium {

class CovarianceFamilyModel final : public Model, private Density, private Generator, private Encoder {
 public:
  CovarianceFamilyModel(ModelInfo info, std::shared_ptr<const CovarianceModel> model, Moments theta,
                        Whitening whitening);

  [[nodiscard]] const std::shared_ptr<const CovarianceModel>& model() const { return model_; }
  [[nodiscard]] const Whitening& whitening() const { return whitening_; }

  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return *visible_; }
  [[nodiscard]] Moments parameters() const override { return theta_; }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override;
  [[nodiscard]] const Density* density() const override { return this; }
  [[nodiscard]] const Generator* generator() const override { return this; }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::pair<double, double> shown_range() const override;
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::string encode_file() const override;

 private:
  // Density
  void check(const EstimationOptions& options) const override;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;
  [[nodiscard]] bool enumerates(const EstimationOptions& options) const override;
  [[nodiscard]] double products(const EstimationOptions& options, bool with_data) const override;
  [[nodiscard]] Evaluation evaluate(const TestData* test, const Findings& findings, double gap) const;
  // Generator: HMC, or exact draws where hidden states can be enumerated.
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override;
  [[nodiscard]] bool markov() const override { return !draws_exactly(); }
  [[nodiscard]] double products(std::int64_t count) const override;
  [[nodiscard]] bool draws_exactly() const;
  // Encoder: means of the hidden units of either kind given a row.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] bool reconstructs() const override { return false; }

  std::shared_ptr<const CovarianceModel> model_;
  Moments theta_;
  Whitening whitening_;
  std::shared_ptr<const Unit> visible_;
};

}  // namespace harmonium
