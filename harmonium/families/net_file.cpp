#include "harmonium/families/net_file.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/core/named_tensors.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/machine_part.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/posterior_inputs.h"
#include "harmonium/models/unrolling.h"

namespace harmonium {

namespace {

using nlohmann::json;

json net_structure(const FeedForward& net) {
  json structure;
  for (const DenseLayer& layer : net.layers())
    structure["net"].push_back(
        {{"inputs", layer.inputs}, {"outputs", layer.outputs}, {"activation", to_string(layer.activation)}});
  if (net.code()) structure["code"] = *net.code() + 1;
  if (net.input_form() != InputForm::as_given) structure["input"] = to_string(net.input_form());
  return structure;
}

FeedForward parse_net(const json& structure, const TensorFile& file, const std::string& where) {
  try {
    constexpr std::int64_t most_units = 1 << 24, most_weights = 1 << 30;  // a damaged number must not ask for memory
    std::vector<DenseLayer> layers;
    double numbers = 0;
    for (const json& layer : structure.at("net")) {
      layers.push_back({.inputs = whole_number(layer.at("inputs")),
                        .outputs = whole_number(layer.at("outputs")),
                        .activation = parse_activation(layer.at("activation"))});
      const auto& [inputs, outputs, activation] = layers.back();
      require(inputs >= 1 && outputs >= 1 && inputs <= most_units && outputs <= most_units &&
                  inputs * outputs <= most_weights,
              "{}: layer {} maps {} values to {}, which is no layer", where, layers.size(), inputs, outputs);
      numbers += static_cast<double>(inputs * outputs + outputs);
    }
    require_numbers(file, numbers, where);
    std::optional<std::size_t> code;
    if (structure.contains("code")) {
      const auto place = whole_number(structure.at("code"));
      require(place >= 1 && place < static_cast<std::int64_t>(layers.size()),
              "{}: the code is said to be in layer {} of {}", where, place, layers.size());
      code = static_cast<std::size_t>(place - 1);
    }
    FeedForward net(std::move(layers), code);
    if (structure.contains("input")) net.set_input_form(parse_input_form(structure.at("input")));
    return net;
  } catch (const json::exception& error) {
    fail("{}: the description of the net's layers is damaged ({})", where, error.what());
  }
}

constexpr const char* posterior_prefix = "posterior/";

std::optional<BoltzmannMachine> parse_posterior(const json& structure, const TensorFile& file, const FeedForward& net,
                                                const std::string& where) {
  if (!structure.contains("posterior")) return std::nullopt;
  BoltzmannMachine machine = unpack_machine_part(file, structure.at("posterior"), posterior_prefix, where);
  const std::string complaint = posterior_complaint(machine);
  require(complaint.empty(), "{}: the machine beside the net cannot be one: {}", where, complaint);
  const std::int64_t columns = machine.unit(0).width(), added = posterior_width(machine);
  require(columns + added == net.inputs(),
          "{}: the net takes {} values, and the machine beside it makes {} of a row of {}", where, net.inputs(),
          columns + added, columns);
  return machine;
}

bool describes_net(const ModelHeader& header) {
  return header.structure.is_object() && header.structure.contains("net");
}

}  // namespace

std::int64_t TrainedNet::columns() const { return net.inputs() - (posterior ? posterior_width(*posterior) : 0); }

at::Tensor TrainedNet::input(const at::Tensor& rows) const {
  return posterior ? with_posterior(*posterior, rows) : rows;
}

std::string encode_net(const TrainedNet& model) {
  TensorFile file;
  for (const auto& [name, value] : model.net.parameters().entries())
    file.tensors.emplace_back(name, value.to(at::kCPU, at::kFloat));
  json structure = net_structure(model.net);
  if (model.posterior) structure["posterior"] = pack_machine_part(file, *model.posterior, posterior_prefix);
  set_header(file, {.kind = model.kind, .structure = structure, .image = model.image, .notes = model.notes});
  return encode_safetensors(file);
}

void write_net(const std::filesystem::path& path, const TrainedNet& model) {
  write_file_atomically(path, encode_net(model));
}

TrainedNet unpack_net(const TensorFile& file, const std::string& where) {
  ModelHeader header = get_header(file, where);
  require(describes_net(header),
          "{} is a model of kind '{}', not a feed-forward net; `harmonium finetune` makes one of it", where,
          header.kind);
  TrainedNet model{.net = naming(where, [&] { return parse_net(header.structure, file, where); }), .kind = header.kind};
  for (const auto& [name, value] : model.net.parameters().entries())
    copy_parameter(value, name, find_tensor(file.tensors, name, where), where);
  model.posterior = naming(where, [&] { return parse_posterior(header.structure, file, model.net, where); });
  forget_other_image(header, model.columns());
  model.image = header.image;
  model.notes = std::move(header.notes);
  return model;
}

TrainedNet read_net(const std::filesystem::path& path) {
  const std::filesystem::path source = model_file_of(path);
  return unpack_net(parse_safetensors(read_file(source), source.string()), source.string());
}

}  // namespace harmonium
