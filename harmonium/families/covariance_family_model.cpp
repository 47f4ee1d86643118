#include "harmonium/families/covariance_family_model.h"

#include <nlohmann/json.hpp>

#include "harmonium/core/error.h"

namespace harmonium {

CovarianceFamilyModel::CovarianceFamilyModel(ModelInfo info, std::shared_ptr<const CovarianceModel> model,
                                             Moments theta, Whitening whitening)
    : EnergyFamilyModel(std::move(info), model, std::move(theta), std::move(whitening)), model_(std::move(model)) {}

std::unique_ptr<EnergyFamilyModel> CovarianceFamilyModel::with_parameters(Moments theta) const {
  return std::make_unique<CovarianceFamilyModel>(info_, model_, std::move(theta), whitening());
}

std::string CovarianceFamilyModel::subtitle() const {
  const CovarianceStructure& s = model_->structure();
  std::string text = format("{} inputs – {} filters", s.inputs, s.filters);
  if (s.pooled > 0) text += format(" in {} pools", s.pooled);
  if (s.hidden > 0) text += format(", {} mean units", s.hidden);
  return text;
}

std::vector<Model::LayerText> CovarianceFamilyModel::hidden_layers() const {
  const CovarianceStructure& s = model_->structure();
  std::vector<LayerText> all;
  if (s.hidden > 0) all.push_back({.name = "hidden", .unit = format("bernoulli:{}", s.hidden)});
  all.push_back(
      {.name = "covariance",
       .unit = format("{}:{}", s.units == CovarianceUnits::switches ? "bernoulli" : "gamma", s.covariance())});
  return all;
}

std::vector<EnergyFamilyModel::Filters> CovarianceFamilyModel::filters() const {
  const Moments theta = parameters();
  std::vector<Filters> all = {{.id = "covariance_filters",
                               .title = "Covariance filters",
                               .of = "filters whose squared outputs the covariance units see",
                               .columns = theta["filters.weights"]}};
  if (model_->structure().hidden > 0)
    all.push_back({.id = "mean_filters",
                   .title = "Mean filters",
                   .of = "filters of the mean units",
                   .columns = theta["visible_hidden.weights"]});
  return all;
}

std::string CovarianceFamilyModel::scale_of_filters() const {
  return model_->structure().hidden > 0 ? "covariance and mean filters on one scale"
                                        : EnergyFamilyModel::scale_of_filters();
}

nlohmann::json CovarianceFamilyModel::structure() const {
  const CovarianceStructure& s = model_->structure();
  return {{"covariance_model",
           {{"inputs", s.inputs},
            {"hidden", s.hidden},
            {"filters", s.filters},
            {"pooled", s.pooled},
            {"gammas", s.units == CovarianceUnits::gammas},
            {"contained", s.contained},
            {"equal_norms", s.equal_norms},
            {"spread", s.spread}}}};
}

}  // namespace harmonium
