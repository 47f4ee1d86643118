// The family ssrbm: the spike-and-slab RBM with its own penalties (models/free_energy/spike_slab_model.h), trained by
// persistent HMC chains. Without penalties @model rbm with @hidden spike_slab:N is the same model, and trains by every
// gradient of machines.
#include <nlohmann/json.hpp>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/energy_family.h"
#include "harmonium/families/hidden_units.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/free_energy/spike_slab_model.h"

namespace harmonium {

namespace {

struct SpikeSlabOptions : EnergyOptions {
  std::string definite = "certificate";
  std::string penalties = "auto";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("definite", self.definite,
            "what keeps the density finite: certificate (weights that are too large for the precisions are clipped), "
            "penalty (each unit adds at least as much precision as it takes away)");
    visitor("penalties", self.penalties,
            "precision that units add where they are on: none, learnt; auto: learnt with @definite penalty");
    EnergyOptions::visit(self, visitor, "standard deviation of whitened values (0: 1)");
  }
};

class SsrbmModel final : public EnergyFamilyModel {
 public:
  SsrbmModel(ModelInfo info, std::shared_ptr<const SpikeSlabModel> model, Moments theta, Whitening whitening)
      : EnergyFamilyModel(std::move(info), model, std::move(theta), std::move(whitening)), model_(std::move(model)) {}

  [[nodiscard]] std::unique_ptr<EnergyFamilyModel> with_parameters(Moments theta) const override {
    return std::make_unique<SsrbmModel>(info_, model_, std::move(theta), whitening());
  }
  [[nodiscard]] std::string subtitle() const override {
    const SpikeSlabStructure& s = model_->structure();
    return format("{} inputs – {} spikes and slabs{}", s.inputs, s.hidden, s.penalties ? ", penalties" : "");
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    const SpikeSlabStructure& s = model_->structure();
    return {{"spike_slab_model",
             {{"inputs", s.inputs},
              {"hidden", s.hidden},
              {"penalties", s.penalties},
              {"certificate", s.definite == SpikeSlabDefinite::certificate},
              {"spread", s.spread}}}};
  }
  [[nodiscard]] std::vector<LayerText> hidden_layers() const override {
    const std::int64_t width = model_->structure().hidden;
    return {{.name = "slabs", .unit = format("spike_slab:{}", width)},
            {.name = "spikes", .unit = format("bernoulli:{}", width)}};
  }
  // As long as the slabs that they carry deviate: columns of W alone have all one length.
  [[nodiscard]] std::vector<Filters> filters() const override {
    const Moments theta = parameters();
    return {{.id = "filters",
             .title = "Filters",
             .of = "filters, each times the standard deviation of its slab",
             .columns = theta["visible_hidden.weights"] * at::exp(-0.5 * theta["hidden.log_precision"])}};
  }
  [[nodiscard]] bool prefers_gibbs() const override { return true; }
  [[nodiscard]] std::vector<Exhibit> own_exhibits(const ExhibitInput&) const override {
    if (!model_->structure().penalties) return {};
    constexpr std::int64_t most = 96;
    const at::Tensor penalties = parameters()["penalty.weights"].t();
    const at::Tensor order = penalties.sum(1).argsort(0, /*descending=*/true);
    const std::int64_t shown = std::min(most, penalties.size(0));
    return {{.id = "penalties",
             .title = "Penalties",
             .caption = format("Precision that {} of {} units add to each whitened value where they are on, largest "
                               "first, all on one scale.",
                               shown, penalties.size(0)),
             .rows = penalties.index_select(0, order.narrow(0, 0, shown)).to(at::kFloat).contiguous(),
             .weights = true,
             .full_colour = std::max(penalties.max().item<double>(), 1e-12),
             .columns = 12}};
  }

  std::shared_ptr<const SpikeSlabModel> model_;
};

SpikeSlabStructure structure_of(const RunConfig& config) {
  const auto& own = config.own.as<SpikeSlabOptions>();
  return {.inputs = make_unit(config.visible)->width(),
          .hidden = hidden_units(config),
          .penalties = own.penalties == "learnt",
          .definite = own.definite == "penalty" ? SpikeSlabDefinite::penalty : SpikeSlabDefinite::certificate,
          .spread = own.spread};
}

void resolve(RunConfig& config, RunData& data) {
  auto& own = config.own.as<SpikeSlabOptions>();
  resolve_energy(config, data, own, 1.0);
  require(own.definite == "certificate" || own.definite == "penalty", "@definite {}: there are certificate and penalty",
          own.definite);
  if (own.penalties == "auto") own.penalties = own.definite == "penalty" ? "learnt" : "none";
  require(own.penalties == "learnt" || own.penalties == "none", "@penalties {}: there are none, learnt and auto",
          own.penalties);
  require(own.definite == "certificate" || own.penalties == "learnt",
          "@definite penalty needs penalties; leave @penalties none out");
  (void)SpikeSlabModel(structure_of(config));
  resolve_likelihood(config, 0.01);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto model = std::make_shared<const SpikeSlabModel>(structure_of(config));
  return make_energy_model(
      config, data, config.own.as<SpikeSlabOptions>(), *model, [&](ModelInfo info, Moments theta, Whitening whitening) {
        return std::make_unique<SsrbmModel>(std::move(info), model, std::move(theta), std::move(whitening));
      });
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  return train_energy_model(config, data, config.own.as<SpikeSlabOptions>(),
                            dynamic_cast<const EnergyFamilyModel&>(start));
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "spike_slab_model", where, [&](const nlohmann::json& shape) {
    const SpikeSlabStructure structure{
        .inputs = whole_number(shape.at("inputs")),
        .hidden = whole_number(shape.at("hidden")),
        .penalties = shape.at("penalties"),
        .definite = shape.at("certificate").get<bool>() ? SpikeSlabDefinite::certificate : SpikeSlabDefinite::penalty,
        .spread = shape.at("spread")};
    require(header.kind == "ssrbm", "{}: a model of kind '{}' has no spikes and slabs", where, header.kind);
    require_energy_sizes({structure.inputs, structure.hidden}, where);
    const auto D = static_cast<double>(structure.inputs), N = static_cast<double>(structure.hidden);
    require_numbers(file, D * (D + N * (structure.penalties ? 2 : 1)), where);
    const auto model = std::make_shared<const SpikeSlabModel>(structure);
    const Moments theta = model->initial_parameters(Key(0));
    read_parameters(theta, file, where);
    Whitening whitening = read_whitening(file, structure.inputs, structure.spread, where);
    return std::make_unique<SsrbmModel>(info_of(header, structure.inputs), model, theta, std::move(whitening));
  });
}

double weights_of(const RunConfig& config) {
  const SpikeSlabStructure structure = structure_of(config);
  return static_cast<double>(structure.inputs) * static_cast<double>(structure.hidden) * (structure.penalties ? 2 : 1);
}

}  // namespace

Family ssrbm_family() {
  std::vector<std::string> options = energy_option_names();
  options.emplace_back("hidden");
  return {.name = "ssrbm",
          .title = "Spike-and-slab RBM",
          .help = "RBM whose hidden units are a spike and a slab each, for mean and covariance of real values",
          .example = "harmonium train --data digits --model ssrbm --hidden 64 --updates 500",
          .options = options,
          .own = OwnOptions(SpikeSlabOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size =
              [](const RunConfig& config) {
                return ModelSize{.weights = weights_of(config), .units = static_cast<double>(hidden_units(config))};
              },
          .products =
              [](const RunConfig& config) {
                return energy_products(config, config.own.as<SpikeSlabOptions>(), weights_of(config));
              },
          .words =
              [](const RunConfig& config) {
                return format("{} – {} spikes and slabs{}", config.visible, config.hidden,
                              energy_words(config.own.as<SpikeSlabOptions>()));
              },
          .dequantizes = true,
          .real_values = true,
          .binarizes = false};
}

}  // namespace harmonium
