#include "harmonium/training/files/model_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/data/formats/npz.h"
#include "harmonium/data/formats/safetensors.h"
#include "harmonium/models/builders.h"

namespace harmonium {

namespace {

using nlohmann::json;

constexpr const char* format_name = "harmonium-model/1";
constexpr const char* moments_prefix = "data_moments/";

std::string describe_structure(const BoltzmannMachine& machine) {
  json structure;
  for (const Layer& layer : machine.layers())
    structure["layers"].push_back({{"name", layer.name}, {"unit", layer.unit->spec()}, {"observed", layer.observed}});
  structure["edges"] = json::array();
  for (const EdgeInfo& edge : machine.topology().edges)
    structure["edges"].push_back({machine.layers()[edge.lower].name, machine.layers()[edge.upper].name});
  return structure.dump();
}

BoltzmannMachine parse_structure(const std::string& text, at::ScalarType type, const std::string& where) {
  try {
    const json structure = json::parse(text);
    std::vector<Layer> layers;
    std::vector<Edge> edges;
    for (const json& layer : structure.at("layers"))
      layers.push_back({layer.at("name"), make_unit(layer.at("unit")), layer.at("observed")});
    for (const json& edge : structure.at("edges")) edges.push_back({edge.at(0), edge.at(1)});
    return {std::move(layers), edges, type};
  } catch (const json::exception& error) {
    fail("{}: the description of the model's structure is damaged ({})", where, error.what());
  }
}

void set_parameter(BoltzmannMachine& machine, const std::string& name, const at::Tensor& value,
                   const std::string& where) {
  at::Tensor& target = machine.parameters()[name];
  require(value.sizes() == target.sizes(), "{}: tensor '{}' does not have the shape its layers ask for", where, name);
  require(at::isfinite(value).all().item<bool>(), "{}: tensor '{}' holds values that are not finite", where, name);
  target.copy_(value);
}

std::optional<ImageShape> guess_image(std::int64_t columns) {
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(columns))));
  return side >= 4 && side * side == columns ? std::optional(ImageShape{side, side}) : std::nullopt;
}

Model from_arrays(const NamedTensors& arrays, const std::string& where) {
  const at::Tensor& weights = find_tensor(arrays, "W", where);
  const at::Tensor& visible = find_tensor(arrays, "visible_bias", where);
  const at::Tensor& hidden = find_tensor(arrays, "hidden_bias", where);
  require(weights.dim() == 2 && weights.numel() > 0, "{}: W must be a matrix, visible × hidden", where);
  require(visible.numel() == weights.size(0) && hidden.numel() == weights.size(1),
          "{}: W is {} × {}, but visible_bias has {} and hidden_bias {} entries (W is visible × hidden)", where,
          weights.size(0), weights.size(1), visible.numel(), hidden.numel());
  Model model{make_rbm(format("bernoulli:{}", weights.size(0)), format("bernoulli:{}", weights.size(1)))};
  set_parameter(model.machine, "visible_hidden.weights", weights, where);
  set_parameter(model.machine, "visible.bias", visible.reshape({-1}), where);
  set_parameter(model.machine, "hidden.bias", hidden.reshape({-1}), where);
  model.image = guess_image(weights.size(0));
  return model;
}

Model from_safetensors(std::string_view bytes, const std::string& where) {
  const TensorFile file = parse_safetensors(bytes, where);
  const auto metadata = [&](const std::string& key) {
    const auto it = file.metadata.find(key);
    require(it != file.metadata.end(), "{}: not a model of this program (metadata '{}' is missing)", where, key);
    return it->second;
  };
  require(metadata("format") == format_name, "{}: model format '{}' is not known to this version", where,
          metadata("format"));
  require(!file.tensors.empty(), "{}: the model has no tensors", where);
  Model model{parse_structure(metadata("structure"), at::kFloat, where)};
  model.kind = metadata("kind");
  for (const auto& [name, value] : model.machine.parameters().entries())
    set_parameter(model.machine, name, find_tensor(file.tensors, name, where), where);
  for (const std::size_t layer : model.machine.observed()) {
    std::vector<at::Tensor> moments;
    for (const std::string& name : model.machine.topology().layers[layer].parameters)
      if (file.contains(moments_prefix + name)) moments.push_back(file.get(moments_prefix + name));
    if (!moments.empty()) model.data_moments.push_back(std::move(moments));
  }
  for (const auto& [key, value] : file.metadata) {
    long long height = 0, width = 0;
    if (key.starts_with("note."))
      model.notes[key.substr(5)] = value;
    else if (key == "image" && std::sscanf(value.c_str(), "%lldx%lld", &height, &width) == 2)
      model.image = ImageShape{height, width};
  }
  const std::int64_t width = model.machine.unit(model.machine.observed().front()).width();
  if (model.image && model.image->height * model.image->width != width) model.image.reset();
  return model;
}

}  // namespace

void write_model(const std::filesystem::path& path, const Model& model) {
  TensorFile file;
  for (const auto& [name, value] : model.machine.parameters().entries()) file.tensors.emplace_back(name, value);
  const LayerSet observed = model.machine.observed();
  for (std::size_t i = 0; i < model.data_moments.size(); ++i)
    for (std::size_t j = 0; j < model.data_moments[i].size(); ++j)
      file.tensors.emplace_back(moments_prefix + model.machine.topology().layers[observed[i]].parameters[j],
                                model.data_moments[i][j]);
  file.metadata = {{"format", format_name}, {"structure", describe_structure(model.machine)}, {"kind", model.kind}};
  if (model.image) file.metadata["image"] = format("{}x{}", model.image->height, model.image->width);
  for (const auto& [key, value] : model.notes) file.metadata["note." + key] = value;
  write_safetensors(path, file);
}

Model read_model(const std::filesystem::path& path) {
  require(std::filesystem::exists(path), "there is no model at {}; give a run folder, a .safetensors or an .npz file",
          path.string());
  if (std::filesystem::is_directory(path)) {
    const auto file = path / "model.safetensors";
    require(std::filesystem::exists(file),
            "{} holds no model.safetensors: it is not a run folder, or its run has not finished "
            "(`harmonium resume {}` goes on with it)",
            path.string(), path.string());
    return read_model(file);
  }
  const std::string bytes = read_file(path);
  if (bytes.starts_with("PK")) return from_arrays(read_npz(path), path.string());
  return from_safetensors(bytes, path.string());
}

}  // namespace harmonium
