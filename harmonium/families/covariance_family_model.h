// A trained model of the families pot, mpot, covariance_rbm and mcrbm (models/free_energy/covariance_model.h).
#pragma once

#include "harmonium/families/energy_family_model.h"
#include "harmonium/models/free_energy/covariance_model.h"

namespace harmonium {

class CovarianceFamilyModel final : public EnergyFamilyModel {
 public:
  CovarianceFamilyModel(ModelInfo info, std::shared_ptr<const CovarianceModel> model, Moments theta,
                        Whitening whitening);

  [[nodiscard]] const std::shared_ptr<const CovarianceModel>& model() const { return model_; }
  [[nodiscard]] std::unique_ptr<EnergyFamilyModel> with_parameters(Moments theta) const override;
  [[nodiscard]] std::string subtitle() const override;

 private:
  [[nodiscard]] nlohmann::json structure() const override;
  [[nodiscard]] std::vector<LayerText> hidden_layers() const override;
  [[nodiscard]] std::vector<Filters> filters() const override;
  [[nodiscard]] std::string scale_of_filters() const override;

  std::shared_ptr<const CovarianceModel> model_;
};

}  // namespace harmonium
