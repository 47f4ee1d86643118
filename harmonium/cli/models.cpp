#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/training/files/model_file.h"
#include "harmonium/training/files/net_file.h"

namespace harmonium::cli {

namespace {

struct ShowOptions {
  CommonOptions common;
  std::string model;
};

void add_parameters(nlohmann::ordered_json& json, const Moments& parameters) {
  for (const auto& [name, value] : parameters.entries()) {
    const at::Tensor x = value.to(at::kDouble);
    json["parameters"].push_back({{"name", name},
                                  {"shape", value.sizes().vec()},
                                  {"mean", x.mean().item<double>()},
                                  {"deviation", x.std(/*unbiased=*/false).item<double>()},
                                  {"least", x.min().item<double>()},
                                  {"greatest", x.max().item<double>()}});
  }
  json["dimension"] = parameters.dimension();
}

nlohmann::ordered_json describe(const std::string& path) {
  nlohmann::ordered_json json = {{"model", path}};
  const auto finish = [&](const std::optional<ImageShape>& image, const std::map<std::string, std::string>& notes) {
    json["image"] = image ? nlohmann::ordered_json(fmt::format("{}x{}", image->height, image->width)) : nullptr;
    json["notes"] = notes;
    return json;
  };
  if (is_net_file(path)) {
    const NetModel model = read_net(path);
    json["kind"] = model.kind;
    json["layers"].push_back({{"name", "input"}, {"unit", std::to_string(model.net.inputs())}, {"observed", true}});
    for (std::size_t i = 0; i < model.net.layers().size(); ++i) {
      const DenseLayer& layer = model.net.layers()[i];
      json["layers"].push_back({{"name", fmt::format("layer{}{}", i + 1, model.net.code() == i ? " (code)" : "")},
                                {"unit", fmt::format("{}:{}", to_string(layer.activation), layer.outputs)},
                                {"observed", false}});
    }
    add_parameters(json, model.net.parameters());
    return finish(model.image, model.notes);
  }
  if (is_stack_file(path)) {
    const StackModel model = read_stack_model(path);
    json["kind"] = model.kind;
    Moments all;
    for (std::size_t i = 0; i < model.machines.size(); ++i) {
      const BoltzmannMachine& machine = model.machines[i].machine;
      for (std::size_t layer = i == 0 ? 0 : 1; layer < machine.layers().size(); ++layer) {
        const Layer& one = machine.layers()[layer];
        json["layers"].push_back({{"name", fmt::format("{}{}", one.name, one.observed ? "" : std::to_string(i + 1))},
                                  {"unit", one.unit->spec()},
                                  {"observed", one.observed}});
      }
      for (const auto& [name, value] : machine.parameters().entries())
        all.insert(fmt::format("machine{}/{}", i + 1, name), value);
    }
    for (std::size_t i = 0; i < model.recognition.size(); ++i)
      for (const auto& [name, value] : model.recognition[i].parameters().entries())
        all.insert(fmt::format("recognition{}/{}", i + 1, name), value);
    add_parameters(json, all);
    return finish(model.image, model.notes);
  }
  const Model model = read_model(path);
  json["kind"] = model.kind;
  for (const Layer& layer : model.machine.layers())
    json["layers"].push_back({{"name", layer.name}, {"unit", layer.unit->spec()}, {"observed", layer.observed}});
  add_parameters(json, model.machine.parameters());
  return finish(model.image, model.notes);
}

int show(const ShowOptions& options) {
  const nlohmann::ordered_json json = describe(options.model);
  if (options.common.json) {
    print_json(json);
    return 0;
  }
  const auto text = [](const nlohmann::ordered_json& value) { return value.get<std::string>(); };
  fmt::print("{}  {}\n\nlayers\n", text(json["kind"]), options.model);
  for (const auto& layer : json["layers"])
    fmt::print("  {:<14} {}{}\n", text(layer["name"]), text(layer["unit"]),
               layer["observed"].get<bool>() ? "  (data)" : "");
  fmt::print("\n{:<36} {:>12} {:>10} {:>10} {:>10} {:>10}\n", "parameters", "shape", "mean", "deviation", "least",
             "greatest");
  for (const auto& row : json["parameters"]) {
    std::string shape;
    for (const auto& size : row["shape"])
      shape += (shape.empty() ? "" : "×") + std::to_string(size.get<std::int64_t>());
    fmt::print("  {:<34} {:>12} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f}\n", text(row["name"]), shape,
               row["mean"].get<double>(), row["deviation"].get<double>(), row["least"].get<double>(),
               row["greatest"].get<double>());
  }
  fmt::print("  {} in all\n", json["dimension"].get<std::int64_t>());
  if (!json["notes"].empty()) fmt::print("\nnotes\n");
  for (const auto& [key, value] : json["notes"].items()) fmt::print("  {:<14} {}\n", key, text(value));
  return 0;
}

}  // namespace

void add_models(CLI::App& app) {
  CLI::App* models = app.add_subcommand("models", "Look at models");
  models->require_subcommand(1);
  models->footer("Examples:\n  harmonium models show runs/digits-1\n");
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      add_command(*models, "show", "Layers, parameters and notes of a model", "  harmonium models show runs/digits-1\n",
                  options->common, [options] { return show(*options); });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz")->required();
}

}  // namespace harmonium::cli
