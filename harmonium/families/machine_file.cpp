#include "harmonium/families/machine_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/data/formats/npz.h"
#include "harmonium/data/formats/safetensors.h"
#include "harmonium/families/machine_part.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/models/builders.h"

namespace harmonium {

namespace {

using nlohmann::json;

constexpr const char* moments_prefix = "data_moments/";

json describe_structure(const BoltzmannMachine& machine) {
  json structure;
  for (const Layer& layer : machine.layers())
    structure["layers"].push_back({{"name", layer.name}, {"unit", layer.unit->spec()}, {"observed", layer.observed}});
  structure["edges"] = json::array();
  for (const EdgeInfo& edge : machine.topology().edges)
    structure["edges"].push_back({machine.layers()[edge.lower].name, machine.layers()[edge.upper].name});
  return structure;
}

// How many numbers the parameters of such a machine are.
double numbers_of(const std::vector<Layer>& layers, const std::vector<Edge>& edges) {
  const auto width = [&](const std::string& name) {
    const auto it = std::ranges::find(layers, name, &Layer::name);
    return it == layers.end() ? 0.0 : static_cast<double>(it->unit->width());  // the machine refuses the name
  };
  double sum = 0;
  for (const Layer& layer : layers)
    sum += static_cast<double>(layer.unit->width()) * static_cast<double>(layer.unit->parameter_names().size());
  for (const Edge& edge : edges) sum += width(edge.lower) * width(edge.upper);
  return sum;
}

BoltzmannMachine parse_structure(const json& structure, const TensorFile& file, const std::string& where) {
  try {
    constexpr std::size_t most_layers = 1000;
    std::vector<Layer> layers;
    std::vector<Edge> edges;
    for (const json& layer : structure.at("layers"))
      layers.push_back({layer.at("name"), make_unit(layer.at("unit")), layer.at("observed")});
    for (const json& edge : structure.at("edges")) edges.push_back({edge.at(0), edge.at(1)});
    require(layers.size() <= most_layers && edges.size() <= most_layers,
            "{}: {} layers and {} edges; a machine has at most {}", where, layers.size(), edges.size(), most_layers);
    require(std::ranges::any_of(layers, &Layer::observed), "{}: no layer of the model is observed, so it has no data",
            where);
    require_numbers(file, numbers_of(layers, edges), where);
    return {std::move(layers), edges};
  } catch (const json::exception& error) {
    fail("{}: the description of the model's structure is damaged ({})", where, error.what());
  }
}

std::optional<ImageShape> guess_image(std::int64_t columns) {
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(columns))));
  return side >= 4 && side * side == columns ? std::optional(ImageShape{side, side}) : std::nullopt;
}

TrainedMachine arrays_to_machine(const NamedTensors& arrays, const std::string& where) {
  const at::Tensor weights = find_tensor(arrays, "W", where);
  const at::Tensor visible = find_tensor(arrays, "visible_bias", where);
  const at::Tensor hidden = find_tensor(arrays, "hidden_bias", where);
  require(weights.dim() == 2 && weights.numel() > 0, "{}: W must be a matrix, visible × hidden", where);
  require(visible.numel() == weights.size(0) && hidden.numel() == weights.size(1),
          "{}: W is {} × {}, but visible_bias has {} and hidden_bias {} entries (W is visible × hidden)", where,
          weights.size(0), weights.size(1), visible.numel(), hidden.numel());
  TrainedMachine model{make_rbm(format("bernoulli:{}", weights.size(0)), format("bernoulli:{}", weights.size(1)))};
  copy_parameter(model.machine.parameters()["visible_hidden.weights"], "visible_hidden.weights", weights, where);
  copy_parameter(model.machine.parameters()["visible.bias"], "visible.bias", visible.reshape({-1}), where);
  copy_parameter(model.machine.parameters()["hidden.bias"], "hidden.bias", hidden.reshape({-1}), where);
  model.image = guess_image(weights.size(0));
  return model;
}

// Tensors of a machine, each with a prefix to its name.
void pack_machine(TensorFile& file, const TrainedMachine& model, const std::string& prefix) {
  for (const auto& [name, value] : model.machine.parameters().entries())
    file.tensors.emplace_back(prefix + name, value);
  const LayerSet observed = model.machine.observed();
  for (std::size_t i = 0; i < model.data_moments.size(); ++i)
    for (std::size_t j = 0; j < model.data_moments[i].size(); ++j)
      file.tensors.emplace_back(prefix + moments_prefix + model.machine.topology().layers[observed[i]].parameters[j],
                                model.data_moments[i][j]);
}

TrainedMachine unpack_machine(const TensorFile& file, const json& structure, const std::string& prefix,
                              const std::string& where) {
  TrainedMachine model{parse_structure(structure, file, where)};
  const Moments& parameters = model.machine.parameters();
  for (const auto& [name, value] : parameters.entries())
    copy_parameter(value, prefix + name, find_tensor(file.tensors, prefix + name, where), where);
  // Those of all observed layers, or none.
  if (std::ranges::none_of(file.tensors,
                           [&](const auto& each) { return each.first.starts_with(prefix + moments_prefix); }))
    return model;
  for (const std::size_t layer : model.machine.observed()) {
    std::vector<at::Tensor>& moments = model.data_moments.emplace_back();
    for (const std::string& name : model.machine.topology().layers[layer].parameters) {
      const std::string full = prefix + moments_prefix + name;
      const at::Tensor& value = find_tensor(file.tensors, full, where);
      require_parameter(value, parameters[name].sizes(), full, where);
      moments.push_back(value.is_floating_point() ? value : value.to(at::kFloat));
    }
  }
  return model;
}

std::string machine_prefix(std::size_t place) { return format("machine{}/", place + 1); }
std::string recognition_prefix(std::size_t place) { return format("recognition{}/", place + 1); }

bool describes_stack(const ModelHeader& header) {
  return header.structure.is_object() && header.structure.contains("stack");
}

TrainedStack read_stack(const TensorFile& file, const std::string& where) {
  ModelHeader header = get_header(file, where);
  require(describes_stack(header), "{} is a model of kind '{}', not a stack of machines", where, header.kind);
  TrainedStack model{.machines = {}, .kind = header.kind};
  const json& stack = header.structure.at("stack");
  require(stack.is_array() && !stack.empty(), "{}: the description of the stack's machines is damaged", where);
  for (std::size_t i = 0; i < stack.size(); ++i)
    model.machines.push_back(unpack_machine(file, stack[i], machine_prefix(i), where));
  for (const TrainedMachine& each : model.machines)
    require(each.machine.parameters().contains("visible_hidden.weights"),
            "{}: a machine of the stack has no weights between its layers 'visible' and 'hidden'", where);
  if (header.structure.contains("recognition")) {
    const json& recognition = header.structure.at("recognition");
    require(recognition.is_array() && !recognition.empty(), "{}: the description of the stack's way up is damaged",
            where);
    for (std::size_t i = 0; i < recognition.size(); ++i)
      model.recognition.push_back(unpack_machine(file, recognition[i], recognition_prefix(i), where).machine);
  }
  require_belief_net(model.net());
  forget_other_image(header, model.machines.front().machine.unit(0).width());
  model.image = header.image;
  model.notes = std::move(header.notes);
  return model;
}

}  // namespace

std::pair<double, double> TrainedMachine::shown_range() const {
  const Unit::Support support = machine.unit(0).support();
  if (data_moments.empty()) return {0, 1};
  if (support == Unit::Support::naturals) {  // of counts the mean alone is known, and their variance is about as large
    const double mean = data_moments[0][0].to(at::kDouble).max().item<double>();
    return {0, std::max(1.0, mean + 2 * std::sqrt(std::max(0.0, mean)))};
  }
  const bool real = support == Unit::Support::reals || support == Unit::Support::nonnegative;
  if (!real || data_moments[0].size() < 2) return {0, 1};
  const at::Tensor mean = data_moments[0][0].to(at::kDouble), square = -2 * data_moments[0][1].to(at::kDouble);
  return range_of_values(mean, (square - mean.square()).clamp_min(0).sqrt());
}

json pack_machine_part(TensorFile& file, const BoltzmannMachine& machine, const std::string& prefix) {
  pack_machine(file, {machine}, prefix);
  return describe_structure(machine);
}

BoltzmannMachine unpack_machine_part(const TensorFile& file, const json& structure, const std::string& prefix,
                                     const std::string& where) {
  return unpack_machine(file, structure, prefix, where).machine;
}

std::string encode_machine(const TrainedMachine& model) {
  TensorFile file;
  pack_machine(file, model, "");
  set_header(
      file,
      {.kind = model.kind, .structure = describe_structure(model.machine), .image = model.image, .notes = model.notes});
  return encode_safetensors(file);
}

TrainedMachine unpack_machine(const TensorFile& file, const std::string& where) {
  ModelHeader header = get_header(file, where);
  require(header.structure.is_object() && header.structure.contains("layers"),
          "{} is a model of kind '{}', not a single Boltzmann machine", where, header.kind);
  TrainedMachine model = naming(where, [&] { return unpack_machine(file, header.structure, "", where); });
  require(header.kind == "mrf" || !model.machine.hidden().empty(),
          "{}: the model is of kind '{}' and has no hidden layer", where, header.kind);
  model.kind = header.kind;
  forget_other_image(header, model.machine.unit(model.machine.observed().front()).width());
  model.image = header.image;
  model.notes = std::move(header.notes);
  return model;
}

TrainedMachine decode_machine(std::string_view bytes, const std::string& where) {
  return unpack_machine(parse_safetensors(bytes, where), where);
}

void write_machine(const std::filesystem::path& path, const TrainedMachine& model) {
  write_file_atomically(path, encode_machine(model));
}

TrainedMachine machine_from_arrays(const std::filesystem::path& npz) {
  return arrays_to_machine(read_npz(npz), npz.string());
}

TrainedMachine read_machine(const std::filesystem::path& path) {
  const std::filesystem::path source = model_file_of(path);
  const std::string bytes = read_file(source);
  return bytes.starts_with("PK") ? machine_from_arrays(source) : decode_machine(bytes, source.string());
}

BeliefNet TrainedStack::net() const {
  MachineStack down;
  for (const TrainedMachine& each : machines) down.push_back(each.machine);
  return {std::move(down), recognition};
}

std::string encode_stack(const TrainedStack& model) {
  const BeliefNet net = model.net();
  if (!net.tied) require_belief_net(net);
  TensorFile file;
  json structure;
  for (std::size_t i = 0; i < model.machines.size(); ++i) {
    pack_machine(file, model.machines[i], machine_prefix(i));
    structure["stack"].push_back(describe_structure(model.machines[i].machine));
  }
  for (std::size_t i = 0; i < model.recognition.size(); ++i) {
    pack_machine(file, {model.recognition[i]}, recognition_prefix(i));
    structure["recognition"].push_back(describe_structure(model.recognition[i]));
  }
  set_header(file, {.kind = model.kind, .structure = structure, .image = model.image, .notes = model.notes});
  return encode_safetensors(file);
}

void write_stack(const std::filesystem::path& path, const TrainedStack& model) {
  write_file_atomically(path, encode_stack(model));
}

TrainedStack read_trained_stack(const std::filesystem::path& path) {
  const std::filesystem::path source = model_file_of(path);
  return decode_stack(read_file(source), source.string());
}

TrainedStack decode_stack(std::string_view bytes, const std::string& where) {
  return unpack_stack(parse_safetensors(bytes, where), where);
}

TrainedStack unpack_stack(const TensorFile& file, const std::string& where) {
  return naming(where, [&] { return read_stack(file, where); });
}

}  // namespace harmonium
