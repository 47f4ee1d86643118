// The families pot, mpot, covariance_rbm and mcrbm (models/free_energy/covariance_model.h): densities of real values,
// trained by persistent HMC chains.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/covariance_family_model.h"
#include "harmonium/families/energy_family.h"
#include "harmonium/families/hidden_units.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

struct CovarianceOptions : EnergyOptions {
  std::int64_t filters = 0;
  std::int64_t pools = 0;
  std::string norms = "auto";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("filters", self.filters, "filters of the covariance part (0: as many as columns)");
    visitor("pools", self.pools,
            "covariance units that each see a learnt mixture of filters (0: one for each filter; not for pot)");
    visitor("norms", self.norms, "lengths of filters: equal, free; auto: free for pot, else equal");
    EnergyOptions::visit(
        self, visitor,
        "standard deviation of whitened values; the Gaussian around mpot, covariance_rbm and mcrbm has 1, and hidden "
        "units only narrow it (0: 1/3; pot, or without whitening: 1)");
  }
};

struct Kind {
  const char* name;
  CovarianceUnits units;
  bool contained, has_means;
};
constexpr std::array kinds = {Kind{"pot", CovarianceUnits::gammas, false, false},
                              Kind{"mpot", CovarianceUnits::gammas, true, true},
                              Kind{"covariance_rbm", CovarianceUnits::switches, true, false},
                              Kind{"mcrbm", CovarianceUnits::switches, true, true}};

const Kind& kind_of(const RunConfig& config) {
  return *std::ranges::find_if(kinds, [&](const Kind& each) { return config.model == each.name; });
}

std::int64_t mean_units(const RunConfig& config) {
  return kind_of(config).has_means ? hidden_units(config, "mean units") : 0;
}

CovarianceStructure structure_of(const RunConfig& config) {
  const Kind& kind = kind_of(config);
  const auto& own = config.own.as<CovarianceOptions>();
  return {.inputs = make_unit(config.visible)->width(),
          .hidden = mean_units(config),
          .filters = own.filters,
          .pooled = own.pools,
          .units = kind.units,
          .contained = kind.contained,
          .equal_norms = own.norms == "equal",
          .spread = own.spread};
}

void resolve(RunConfig& config, RunData& data) {
  auto& own = config.own.as<CovarianceOptions>();
  resolve_energy(config, data, own, kind_of(config).contained ? 1.0 / 3 : 1.0);
  constexpr std::int64_t most_filters = 1 << 20;
  require(own.filters >= 0 && own.filters <= most_filters, "@filters {}: give a number of filters, 1 or more",
          own.filters);
  if (own.filters == 0) own.filters = data.train.columns();
  require(own.pools >= 0 && own.pools <= own.filters, "@pools {}: give a number between 1 and @filters {}", own.pools,
          own.filters);
  require(own.pools == 0 || kind_of(config).contained,
          "@pools does not apply to @model pot; it applies to mpot, "
          "covariance_rbm and mcrbm");
  if (own.norms == "auto") own.norms = kind_of(config).contained ? "equal" : "free";
  require(own.norms == "equal" || own.norms == "free", "@norms {}: there are equal, free and auto", own.norms);
  (void)CovarianceModel(structure_of(config));
  resolve_likelihood(config, 0.003);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto model = std::make_shared<const CovarianceModel>(structure_of(config));
  return make_energy_model(config, data, config.own.as<CovarianceOptions>(), *model,
                           [&](ModelInfo info, Moments theta, Whitening whitening) {
                             return std::make_unique<CovarianceFamilyModel>(std::move(info), model, std::move(theta),
                                                                            std::move(whitening));
                           });
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  return train_energy_model(config, data, config.own.as<CovarianceOptions>(),
                            dynamic_cast<const EnergyFamilyModel&>(start));
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "covariance_model", where, [&](const nlohmann::json& shape) {
    const CovarianceStructure structure{
        .inputs = whole_number(shape.at("inputs")),
        .hidden = whole_number(shape.at("hidden")),
        .filters = whole_number(shape.at("filters")),
        .pooled = whole_number(shape.at("pooled")),
        .units = shape.at("gammas").get<bool>() ? CovarianceUnits::gammas : CovarianceUnits::switches,
        .contained = shape.at("contained"),
        .equal_norms = shape.at("equal_norms"),
        .spread = shape.at("spread")};
    require_energy_sizes({structure.inputs, structure.filters, structure.hidden, structure.pooled}, where);
    const auto D = static_cast<double>(structure.inputs), F = static_cast<double>(structure.filters);
    require_numbers(
        file, D * (F + D + static_cast<double>(structure.hidden)) + F * static_cast<double>(structure.pooled), where);
    require(std::ranges::any_of(kinds, [&](const Kind& each) { return header.kind == each.name; }),
            "{}: a model of kind '{}' has no covariance units", where, header.kind);
    const auto model = std::make_shared<const CovarianceModel>(structure);
    const Moments theta = model->initial_parameters(Key(0));
    read_parameters(theta, file, where);
    Whitening whitening = read_whitening(file, structure.inputs, structure.spread, where);
    return std::make_unique<CovarianceFamilyModel>(info_of(header, structure.inputs), model, theta,
                                                   std::move(whitening));
  });
}

double weights_of(const RunConfig& config) {
  return static_cast<double>(make_unit(config.visible)->width()) *
         static_cast<double>(config.own.as<CovarianceOptions>().filters + mean_units(config));
}

Family covariance_family(const char* name, const char* title, const char* help, const char* example) {
  std::vector<std::string> options = energy_option_names();
  if (std::ranges::any_of(kinds,
                          [&](const Kind& each) { return std::string_view(each.name) == name && each.has_means; }))
    options.emplace_back("hidden");
  return {.name = name,
          .title = title,
          .help = help,
          .example = example,
          .options = options,
          .own = OwnOptions(CovarianceOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size =
              [](const RunConfig& config) {
                return ModelSize{.weights = weights_of(config),
                                 .units = weights_of(config) / static_cast<double>(make_unit(config.visible)->width())};
              },
          .products =
              [](const RunConfig& config) {
                return energy_products(config, config.own.as<CovarianceOptions>(), weights_of(config));
              },
          .words =
              [](const RunConfig& config) {
                std::string text =
                    format("{} – {} filters", config.visible, config.own.as<CovarianceOptions>().filters);
                if (kind_of(config).has_means) text += format(", {} mean units", config.hidden);
                return text + energy_words(config.own.as<CovarianceOptions>());
              },
          .dequantizes = true,
          .real_values = true,
          .binarizes = false};
}

}  // namespace

Family pot_family() {
  return covariance_family("pot", "Product of Student-t distributions",
                           "product of Student-t distributions of filter outputs, for real values; as many filters as "
                           "columns: independent components with an exact log-likelihood",
                           "harmonium train --data digits --model pot --updates 500");
}

Family mpot_family() {
  return covariance_family("mpot", "Mean and product of Student-t",
                           "product of Student-t distributions with mean units, for real values",
                           "harmonium train --data digits --model mpot --hidden 32 --filters 64 --updates 500");
}

Family covariance_rbm_family() {
  return covariance_family("covariance_rbm", "Covariance RBM",
                           "RBM whose hidden units switch the covariance of real values",
                           "harmonium train --data digits --model covariance_rbm --filters 64 --updates 500");
}

Family mcrbm_family() {
  return covariance_family("mcrbm", "Mean and covariance RBM",
                           "RBM with hidden units for the mean and others for the covariance of real values",
                           "harmonium train --data digits --model mcrbm --hidden 32 --filters 64 --updates 500");
}

}  // namespace harmonium
