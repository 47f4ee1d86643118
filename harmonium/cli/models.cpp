#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/sessions/open_for_use.h"

namespace harmonium::cli {

namespace {

struct ShowOptions {
  SessionOptions common;
  std::string model;
};

void add_parameters(nlohmann::ordered_json& json, const Moments& parameters) {
  for (const auto& [name, value] : parameters.entries()) {
    const at::Tensor x = value.to(at::kDouble);
    json["parameters"].push_back({{"name", name},
                                  {"shape", value.sizes().vec()},
                                  {"mean", x.mean().item<double>()},
                                  {"std", x.std(/*unbiased=*/false).item<double>()},
                                  {"min", x.min().item<double>()},
                                  {"max", x.max().item<double>()}});
  }
  json["dimension"] = parameters.dimension();
}

nlohmann::ordered_json describe(const std::string& path) {
  const std::unique_ptr<Model> model = open_for_use(path);
  const ModelInfo& info = model->info();
  nlohmann::ordered_json json = {{"model", path}, {"kind", info.family}};
  for (const Model::LayerText& layer : model->layers())
    json["layers"].push_back({{"name", layer.name}, {"unit", layer.unit}, {"observed", layer.observed}});
  add_parameters(json, model->parameters());
  json["image"] =
      info.image ? nlohmann::ordered_json(fmt::format("{}x{}", info.image->height, info.image->width)) : nullptr;
  json["notes"] = info.notes;
  return with_standing(json, *model);
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
  fmt::print("\n{:<36} {:>12} {:>10} {:>10} {:>10} {:>10}\n", "parameters", "shape", "mean", "std", "min", "max");
  for (const auto& row : json["parameters"]) {
    std::string shape;
    for (const auto& size : row["shape"])
      shape += (shape.empty() ? "" : "×") + std::to_string(size.get<std::int64_t>());
    fmt::print("  {:<34} {:>12} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f}\n", text(row["name"]), shape,
               row["mean"].get<double>(), row["std"].get<double>(), row["min"].get<double>(), row["max"].get<double>());
  }
  fmt::print("  {} in all\n", json["dimension"].get<std::int64_t>());
  if (!json["notes"].empty()) fmt::print("\nnotes\n");
  for (const auto& [key, value] : json["notes"].items())
    if (key != "python") fmt::print("  {:<14} {}\n", key, text(value));  // that one is for estimators
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
