// The families pot, mpot, covariance_rbm and mcrbm (models/free_energy/covariance_model.h): densities of real values,
// trained by persistent HMC chains.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/covariance_family_model.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/training/objectives/energy_contrast.h"

namespace harmonium {

namespace {

struct CovarianceOptions {
  std::int64_t filters = 0;
  std::int64_t pools = 0;
  std::string norms = "auto";
  std::string whiten = "zca";
  double spread = 0;
  std::string moves = "hmc";
  std::int64_t leapfrog = 10;
  double acceptance = 0.9;
  double fast_rate = 0;
  double fast_decay = 0.95;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("filters", self.filters, "filters of the covariance part (0: as many as columns)");
    visitor("pools", self.pools,
            "covariance units that each see a learnt mixture of filters (0: one for each filter; not for pot)");
    visitor("norms", self.norms, "lengths of filters: equal, free; auto: free for pot, else equal");
    visitor("whiten", self.whiten,
            "what training sees: zca (mean 0, covariance I), columns (each divided by its standard deviation), none; "
            "likelihoods and samples stay in the units of the data");
    visitor(
        "spread", self.spread,
        "standard deviation of whitened values; the Gaussian around mpot, covariance_rbm and mcrbm has 1, and hidden "
        "units only narrow it (0: 1/3; pot, or without whitening: 1)");
    visitor("moves", self.moves,
            "how chains move in an update: hmc (one trajectory of Hamiltonian Monte Carlo), gibbs (one exact sweep; a "
            "Cholesky factor for each chain, so for few columns)");
    visitor("leapfrog", self.leapfrog, "leapfrog steps of HMC per update");
    visitor("acceptance", self.acceptance, "share of HMC trajectories to accept; the step follows it");
    visitor("fast_rate", self.fast_rate,
            "learning rate of fast weights, which only the chains feel, so that they leave where they are (0: none)");
    visitor("fast_decay", self.fast_decay, "factor by which the fast weights decay at each update");
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
  if (!kind_of(config).has_means) return 0;
  constexpr std::size_t most_digits = 7;
  require(!config.hidden.empty() && config.hidden.size() <= most_digits &&
              config.hidden.find_first_not_of("0123456789") == std::string::npos && std::stoll(config.hidden) > 0,
          "@hidden {}: give the number of mean units, such as 64", config.hidden);
  return std::stoll(config.hidden);
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
  const auto visible = make_unit(config.visible);
  require(visible->support() == Unit::Support::reals, "@visible {}: {} models real values; use @visible gaussian",
          config.visible, config.model);
  require(config.binarize == "none" || data.binarization == Binarization::dequantized,
          "@binarize {}: {} models real values, which are not binarized", config.binarize, config.model);
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
  require(own.whiten == "zca" || own.whiten == "columns" || own.whiten == "none",
          "@whiten {}: there are zca, columns and none", own.whiten);
  if (own.spread == 0) own.spread = kind_of(config).contained && own.whiten != "none" ? 1.0 / 3 : 1.0;
  require(std::isfinite(own.spread) && own.spread > 0, "@spread {}: give a positive number", own.spread);
  require(own.leapfrog >= 1, "@leapfrog {}: give a number of steps, 1 or more", own.leapfrog);
  require(own.acceptance > 0 && own.acceptance < 1, "@acceptance {}: give a share between 0 and 1", own.acceptance);
  require(own.moves == "hmc" || own.moves == "gibbs", "@moves {}: there are hmc and gibbs", own.moves);
  require(std::isfinite(own.fast_rate) && own.fast_rate >= 0, "@fast_rate {}: give a positive rate, or 0 for none",
          own.fast_rate);
  require(own.fast_decay >= 0 && own.fast_decay < 1, "@fast_decay must be at least 0 and below 1, not {}",
          own.fast_decay);
  require(config.keep != "best",
          "@keep best: the log-likelihood of this model is not known during training; leave @keep out");
  require(config.device == "cpu", "@device {}: @model {} is trained on the CPU only", config.device, config.model);
  if (config.particles == 0) config.particles = config.batch;
  (void)CovarianceModel(structure_of(config));
  resolve_likelihood(config, 0.003);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  const auto model = std::make_shared<const CovarianceModel>(structure_of(config));
  const std::string& whiten = config.own.as<CovarianceOptions>().whiten;
  Whitening whitening = whitening_of(with_noise(data.train, data.binarization, noise_key(config)), whiten);
  whitening.spread = model->structure().spread;
  ModelInfo info = initial_info(config, data);
  info.notes["whiten"] = whiten;
  return std::make_unique<CovarianceFamilyModel>(
      std::move(info), model, model->initial_parameters(Key(config.seed).fold_in(run_streams::initial)),
      std::move(whitening));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const CovarianceFamilyModel&>(start);
  const auto& own = config.own.as<CovarianceOptions>();
  RunData seen = data;
  seen.train = whitened(data.train, begun.whitening());
  if (data.valid.rows() > 0) seen.valid = whitened(data.valid, begun.whitening());
  const auto& model = begun.model();
  auto objective = std::make_unique<EnergyContrast>(model, begun.parameters().clone(),
                                                    EnergyContrastOptions{.particles = config.particles,
                                                                          .leapfrog = own.leapfrog,
                                                                          .acceptance = own.acceptance,
                                                                          .gibbs = own.moves == "gibbs",
                                                                          .fast_rate = own.fast_rate,
                                                                          .fast_decay = own.fast_decay},
                                                    Key(config.seed).fold_in(run_streams::chains));
  constexpr std::int64_t most_rows = 1000;
  const at::Tensor learnt = with_noise(seen.train.first(most_rows), data.binarization, noise_key(config)).to_float();
  const bool validated = data.valid.rows() > 0;
  return train_by_likelihood(
      std::move(objective), config, seen,
      {.model = [model, info = begun.info(),
                 whitening = begun.whitening()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<CovarianceFamilyModel>(info, model, parameters, whitening);
       },
       .measures = [model, learnt, validated](const Moments& parameters,
                                              const at::Tensor& rows) -> std::map<std::string, double> {
         if (!validated) return {};
         // Far above 0: training rows are likelier than others.
         const auto mean = [&](const at::Tensor& v) { return model->log_f(v, parameters).mean().item<double>(); };
         return {{"log_f_overfit", mean(learnt) - mean(rows)}};
       }});
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
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    for (const std::int64_t count : {structure.inputs, structure.filters, structure.hidden, structure.pooled})
      require(count >= 0 && count <= most_units, "{}: {} units make no layer of this model", where, count);
    const auto D = static_cast<double>(structure.inputs), F = static_cast<double>(structure.filters);
    require_numbers(
        file, D * (F + D + static_cast<double>(structure.hidden)) + F * static_cast<double>(structure.pooled), where);
    require(std::ranges::any_of(kinds, [&](const Kind& each) { return header.kind == each.name; }),
            "{}: a model of kind '{}' has no covariance units", where, header.kind);
    const auto model = std::make_shared<const CovarianceModel>(structure);
    const Moments theta = model->initial_parameters(Key(0));
    read_parameters(theta, file, where);
    Whitening whitening{.mean = at::zeros({structure.inputs}),
                        .matrix = at::zeros({structure.inputs, structure.inputs})};
    copy_parameter(whitening.mean, "input.mean", find_tensor(file.tensors, "input.mean", where), where);
    copy_parameter(whitening.matrix, "input.whitening", find_tensor(file.tensors, "input.whitening", where), where);
    whitening = {
        .mean = whitening.mean.to(at::kDouble), .matrix = whitening.matrix.to(at::kDouble), .spread = structure.spread};
    require(std::isfinite(whitening.log_determinant()), "{}: its whitening cannot be undone; the file is damaged",
            where);
    return std::make_unique<CovarianceFamilyModel>(info_of(header, structure.inputs), model, theta,
                                                   std::move(whitening));
  });
}

double weights_of(const RunConfig& config) {
  return static_cast<double>(make_unit(config.visible)->width()) *
         static_cast<double>(config.own.as<CovarianceOptions>().filters + mean_units(config));
}

Family covariance_family(const char* name, const char* title, const char* help, const char* example) {
  namespace groups = option_groups;
  std::vector<std::string> options = groups::joined({groups::common(), groups::tracked(), {"particles"}});
  if (std::ranges::any_of(kinds,
                          [&](const Kind& each) { return std::string_view(each.name) == name && each.has_means; }))
    options.emplace_back("hidden");
  for (const char* other : {"shrink", "precision"}) std::erase(options, other);
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
                const auto& own = config.own.as<CovarianceOptions>();
                const auto columns = static_cast<double>(make_unit(config.visible)->width());
                const double passes = own.moves == "gibbs" ? columns / 2 : static_cast<double>(own.leapfrog) + 3;
                return 2 * weights_of(config) *
                       (static_cast<double>(config.batch) + passes * static_cast<double>(config.particles));
              },
          .words =
              [](const RunConfig& config) {
                std::string text =
                    format("{} – {} filters", config.visible, config.own.as<CovarianceOptions>().filters);
                if (kind_of(config).has_means) text += format(", {} mean units", config.hidden);
                const auto& own = config.own.as<CovarianceOptions>();
                return text + (own.fast_rate > 0 ? "; fast weights, " : "; ") + own.moves;
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
