// The family deep_energy: a density of real values whose energy is a feed-forward net with hidden units on top
// (models/free_energy/deep_energy_model.h), trained by persistent HMC chains.
#include <nlohmann/json.hpp>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/energy_family.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/free_energy/deep_energy_model.h"

namespace harmonium {

namespace {

struct DeepEnergyOptions : EnergyOptions {
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    EnergyOptions::visit(self, visitor, "standard deviation of whitened values (0: 1)");
  }
};

class DeepEnergyFamilyModel final : public EnergyFamilyModel {
 public:
  DeepEnergyFamilyModel(ModelInfo info, std::shared_ptr<const DeepEnergyModel> model, Moments theta,
                        Whitening whitening)
      : EnergyFamilyModel(std::move(info), model, std::move(theta), std::move(whitening)), model_(std::move(model)) {}

  [[nodiscard]] std::unique_ptr<EnergyFamilyModel> with_parameters(Moments theta) const override {
    return std::make_unique<DeepEnergyFamilyModel>(info_, model_, std::move(theta), whitening());
  }
  [[nodiscard]] std::string subtitle() const override {
    std::string text = format("{} inputs", model_->inputs());
    for (const std::int64_t each : model_->structure().layers) text += format(" – {}", each);
    if (model_->structure().layers.size() == 1) return text + " hidden units";
    return text + " hidden units, " + to_string(model_->structure().activation);
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    const DeepEnergyStructure& s = model_->structure();
    return {
        {"deep_energy",
         {{"inputs", s.inputs}, {"layers", s.layers}, {"activation", to_string(s.activation)}, {"spread", s.spread}}}};
  }
  [[nodiscard]] std::vector<LayerText> hidden_layers() const override {
    return {{.name = "hidden", .unit = format("bernoulli:{}", model_->structure().layers.back())}};
  }
  [[nodiscard]] std::vector<Filters> filters() const override {
    return {{.id = "filters",
             .title = "Filters",
             .of = "filters of the first layer",
             .columns = DeepEnergyModel::first_filters(parameters())}};
  }

  std::shared_ptr<const DeepEnergyModel> model_;
};

DeepEnergyStructure structure_of(const RunConfig& config) {
  return {.inputs = make_unit(config.visible)->width(),
          .layers = layer_widths(config.layers),
          .activation = parse_activation(config.activation),
          .spread = config.own.as<DeepEnergyOptions>().spread};
}

void resolve(RunConfig& config, RunData& data) {
  resolve_energy(config, data, config.own.as<DeepEnergyOptions>(), 1.0);
  if (config.layers == "none") config.layers = "128,64";
  if (config.activation == "auto") config.activation = "softplus";
  (void)DeepEnergyModel(structure_of(config));
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto model = std::make_shared<const DeepEnergyModel>(structure_of(config));
  return make_energy_model(config, data, config.own.as<DeepEnergyOptions>(), *model,
                           [&](ModelInfo info, Moments theta, Whitening whitening) {
                             return std::make_unique<DeepEnergyFamilyModel>(std::move(info), model, std::move(theta),
                                                                            std::move(whitening));
                           });
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  return train_energy_model(config, data, config.own.as<DeepEnergyOptions>(),
                            dynamic_cast<const EnergyFamilyModel&>(start));
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "deep_energy", where, [&](const nlohmann::json& shape) {
    const DeepEnergyStructure structure{.inputs = whole_number(shape.at("inputs")),
                                        .layers = whole_numbers(shape.at("layers")),
                                        .activation = parse_activation(shape.at("activation")),
                                        .spread = shape.at("spread")};
    require(header.kind == "deep_energy", "{}: a model of kind '{}' is no deep energy model", where, header.kind);
    require_energy_sizes({structure.inputs}, where);
    require_energy_sizes(structure.layers, where);
    double numbers = static_cast<double>(structure.inputs) * static_cast<double>(structure.inputs);
    std::int64_t below = structure.inputs;
    for (const std::int64_t width : structure.layers) {
      numbers += static_cast<double>(below + 1) * static_cast<double>(width);
      below = width;
    }
    require_numbers(file, numbers, where);
    const auto model = std::make_shared<const DeepEnergyModel>(structure);
    const Moments theta = model->initial_parameters(Key(0));
    read_parameters(theta, file, where);
    Whitening whitening = read_whitening(file, structure.inputs, structure.spread, where);
    return std::make_unique<DeepEnergyFamilyModel>(info_of(header, structure.inputs), model, theta,
                                                   std::move(whitening));
  });
}

ModelSize size_of(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const std::int64_t each : layer_widths(config.layers)) widths.push_back(static_cast<double>(each));
  return size_of_chain(widths);
}

}  // namespace

Family deep_energy_family() {
  std::vector<std::string> options = energy_option_names();
  for (const char* each : {"layers", "activation"}) options.emplace_back(each);
  return {.name = "deep_energy",
          .title = "Deep energy model",
          .help = "density of real values whose energy is a feed-forward net with binary hidden units on top",
          .example = "harmonium train --data digits --model deep_energy --layers 128,64 --updates 500",
          .options = options,
          .own = OwnOptions(DeepEnergyOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                // A pass through the net and one back.
                return 2 * energy_products(config, config.own.as<DeepEnergyOptions>(), size_of(config).weights);
              },
          .words =
              [](const RunConfig& config) {
                std::string text = config.visible;
                for (const std::string& each : split_layers(config.layers)) text += " – " + each;
                return text + energy_words(config.own.as<DeepEnergyOptions>());
              },
          .dequantizes = true,
          .real_values = true,
          .binarizes = false};
}

}  // namespace harmonium
