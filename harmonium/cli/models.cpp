#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

struct ShowOptions {
  CommonOptions common;
  std::string model;
};

int show(const ShowOptions& options) {
  const Model model = read_model(options.model);
  nlohmann::ordered_json json = {{"model", options.model}, {"kind", model.kind}};
  for (const Layer& layer : model.machine.layers())
    json["layers"].push_back({{"name", layer.name}, {"unit", layer.unit->spec()}, {"observed", layer.observed}});
  for (const auto& [name, value] : model.machine.parameters().entries()) {
    const at::Tensor x = value.to(at::kDouble);
    json["parameters"].push_back({{"name", name},
                                  {"shape", value.sizes().vec()},
                                  {"mean", x.mean().item<double>()},
                                  {"deviation", x.std(/*unbiased=*/false).item<double>()},
                                  {"least", x.min().item<double>()},
                                  {"greatest", x.max().item<double>()}});
  }
  json["dimension"] = model.machine.parameters().dimension();
  json["image"] =
      model.image ? nlohmann::ordered_json(fmt::format("{}x{}", model.image->height, model.image->width)) : nullptr;
  json["notes"] = model.notes;
  if (options.common.json) {
    print_json(json);
    return 0;
  }
  fmt::print("{}  {}\n\nlayers\n", model.kind, options.model);
  for (const Layer& layer : model.machine.layers())
    fmt::print("  {:<10} {}{}\n", layer.name, layer.unit->spec(), layer.observed ? "  (data)" : "");
  fmt::print("\n{:<26} {:>12} {:>10} {:>10} {:>10} {:>10}\n", "parameters", "shape", "mean", "deviation", "least",
             "greatest");
  for (const auto& row : json["parameters"]) {
    std::string shape;
    for (const auto& size : row["shape"])
      shape += (shape.empty() ? "" : "×") + std::to_string(size.get<std::int64_t>());
    fmt::print("  {:<24} {:>12} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f}\n", row["name"].get<std::string>(), shape,
               row["mean"].get<double>(), row["deviation"].get<double>(), row["least"].get<double>(),
               row["greatest"].get<double>());
  }
  fmt::print("  {} in all\n", model.machine.parameters().dimension());
  if (!model.notes.empty()) fmt::print("\nnotes\n");
  for (const auto& [key, value] : model.notes) fmt::print("  {:<14} {}\n", key, value);
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
