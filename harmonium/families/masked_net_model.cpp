#include "harmonium/families/masked_net_model.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/autoregressive_family.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/autoregressive/causality.h"
#include "harmonium/models/autoregressive/nade.h"

namespace harmonium {

std::string MaskedNetModel::title() const { return find_family(info_.family).title; }

std::string MaskedNetModel::subtitle() const {
  const MaskedNetStructure& shape = net_.structure();
  std::string text = shape.visible;
  if (shape.group > 0) text += format(" – {} groups of {}", net_.visible().variables() - 1, shape.group);
  for (const std::int64_t width : shape.hidden)
    if (shape.group == 0) text += format(" – {}", width);
  if (shape.direct && !shape.hidden.empty()) text += ", direct weights";
  return text + format(", order {}{}", shape.order, shape.masks > 1 ? format(", {} masks", shape.masks) : "");
}

std::vector<Model::LayerText> MaskedNetModel::layers() const {
  const MaskedNetStructure& shape = net_.structure();
  std::vector<LayerText> texts = {{.name = "visible", .unit = shape.visible, .observed = true}};
  for (std::size_t i = 0; i < shape.hidden.size(); ++i)
    texts.push_back(
        {.name = format("layer{}", i + 1), .unit = format("{}:{}", to_string(shape.activation), shape.hidden[i])});
  return texts;
}

std::unique_ptr<Model> MaskedNetModel::to(const at::Device& device) const {
  return std::make_unique<MaskedNetModel>(info_, net_.to(at::TensorOptions().device(device)));
}

std::vector<Exhibit> MaskedNetModel::exhibits(const ExhibitInput& input) const {
  constexpr std::int64_t filters = 96;
  std::vector<Exhibit> all = {
      sample_exhibit([&](const Key& key, std::int64_t count) { return net_.sample(key, count); },
                     "Independent draws: the mean of every pixel given those drawn before it.")};
  if (net_.masks() == 1 && visible().support() == Unit::Support::bits)
    add_nats(
        all,
        [&](const at::Tensor& rows) {
          const at::Tensor x = rows.to(net_.parameters()["output.bias"].options());
          return net_.visible().log_prob_each(x, net_.raw(net_.parameters(), x, 0));
        },
        input.train, *this);
  if (net_.structure().hidden.empty()) return all;
  const bool masked = net_.masks() == 1;
  const at::Tensor columns = on_cpu(masked ? net_.filters(0) : net_.parameters()["layer1.weights"]).t();
  const at::Tensor order = columns.norm(2, 1).argsort(0, /*descending=*/true);
  all.push_back(
      {.id = "filters",
       .title = "Filters",
       .caption = format("Input weights of {} of {} hidden units of the first layer, largest first{}. Red "
                         "adds, blue takes away; each on its own scale.",
                         std::min(filters, columns.size(0)), columns.size(0), masked ? "" : ", without masks"),
       .rows = columns.index_select(0, order.narrow(0, 0, std::min(filters, columns.size(0)))),
       .weights = true,
       .columns = 12});
  return all;
}

nlohmann::json MaskedNetModel::structure() const {
  const MaskedNetStructure& shape = net_.structure();
  nlohmann::json described = {{"visible", shape.visible},
                              {"hidden", shape.hidden},
                              {"activation", to_string(shape.activation)},
                              {"direct", shape.direct},
                              {"constant_spread", shape.constant_spread},
                              {"masks", shape.masks},
                              {"order", shape.order},
                              {"seed", shape.seed}};
  if (shape.group > 0) described["group"] = shape.group;
  return {{"masked_net", described}};
}

at::Tensor MaskedNetModel::log_probabilities_of(const at::Tensor& rows, const EstimationOptions&, Watcher&) const {
  return net_.log_probabilities(rows);
}

std::string MaskedNetModel::exact_method(const EstimationOptions&) const {
  if (net_.masks() == 1) return "exact: the product of its conditionals";
  return format("exact: the mixture of {} masks, each the product of its conditionals", net_.masks());
}

void MaskedNetModel::verify() const {
  for (std::int64_t mask = 0; mask < net_.masks(); ++mask)
    require_causal(
        net_.visible(), net_.order(mask),
        [&](const at::Tensor& rows) { return net_.raw(net_.parameters(), rows, mask); },
        net_.parameters()["output.bias"].options(), Key(0).fold_in(static_cast<std::uint64_t>(mask)));
}

at::Tensor MaskedNetModel::draw(const Request& request) const { return drawn_rows(net_, request); }

std::string autoregressive_visible(const std::string& visible, const std::string& who) {
  const auto unit = make_unit(visible);
  switch (unit->support()) {
    case Unit::Support::bits:
      return format("bernoulli:{}", unit->width());
    case Unit::Support::reals:  // constant columns would pay without limit if there were no floor
      return format("gaussian:{}:0.01", unit->width());
    case Unit::Support::one_hot:
      return "categorical" + unit->spec().substr(unit->spec().find(':'));
    default:
      fail("@visible {}: {} models bernoulli, gaussian or softmax data", visible, who);
  }
}

std::string resolved_order(const std::string& order, std::int64_t masks, std::uint64_t seed, std::int64_t variables) {
  const std::string result = order != "auto" ? order : masks == 1 ? std::string("raster") : format("random:{}", seed);
  (void)parse_order(result, variables);
  return result;
}

std::unique_ptr<Model> make_masked_net(const RunConfig& config, const RunData& data, MaskedNetStructure structure) {
  check_rows(data, *make_unit(config.visible));
  MaskedNet net(std::move(structure));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<MaskedNetModel>(initial_info(config, data), std::move(net));
}

std::vector<ParameterGroup> groups_by_name(const Moments& parameters) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : parameters.entries())
    (name.ends_with(".weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

std::unique_ptr<Trainee> train_masked_net(const RunConfig& config, const RunData& data, const Model& start) {
  return train_exact_net<MaskedNetModel>(
      config, data, start, [](const MaskedNet& net, const Moments& leaves, const at::Tensor& rows, const Step& step) {
        // The next mask at every update.
        const at::Tensor mean = net.log_prob(leaves, rows, step.update % net.masks()).mean();
        return SurrogateAscent::Value{.climbed = mean, .shown = mean};
      });
}

std::unique_ptr<Model> read_masked_net(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "masked_net", where, [&](const nlohmann::json& shape) {
    MaskedNetStructure structure{.visible = shape.at("visible"),
                                 .hidden = whole_numbers(shape.at("hidden")),
                                 .activation = parse_activation(shape.at("activation")),
                                 .direct = shape.at("direct"),
                                 .constant_spread = shape.at("constant_spread"),
                                 .masks = whole_number(shape.at("masks")),
                                 .order = shape.at("order"),
                                 .seed = whole_number<std::uint64_t>(shape.at("seed"))};
    if (shape.contains("group")) {
      structure.group = whole_number(shape.at("group"));
      require(structure.group >= 1 && structure.group <= (1 << 20),
              "{}: groups of {} units are none of a masked net; the file is damaged", where, structure.group);
    }
    require(header.kind == "made" || header.kind == "fvbn" || header.kind == "neural_autoregressive",
            "{}: a model of kind '{}' is no masked net; the file is damaged", where, header.kind);
    // A damaged number must not ask for memory.
    constexpr std::int64_t most_units = 1 << 20, most_masks = 10'000;
    std::vector<std::int64_t> widths = {make_distribution(structure.visible)->width()};
    widths.insert(widths.end(), structure.hidden.begin(), structure.hidden.end());
    double numbers = 0, units = 0;  // at least
    for (std::size_t i = 0; i < widths.size(); ++i) {
      require(widths[i] >= 1 && widths[i] <= most_units, "{}: a layer of {} units is no layer of a masked net", where,
              widths[i]);
      units += static_cast<double>(widths[i]);
      if (i > 0) numbers += static_cast<double>(widths[i]) * static_cast<double>(widths[i - 1]);
    }
    if (structure.direct) numbers += static_cast<double>(widths[0]) * static_cast<double>(widths[0]);
    require_numbers(file, numbers, where);
    require(structure.masks >= 1 && structure.masks <= most_masks &&
                units * static_cast<double>(structure.masks) <= 1 << 28,
            "{}: {} masks of {} units are more than a masked net may have; the file is damaged", where, structure.masks,
            units);
    MaskedNet net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<MaskedNetModel>(info_of(header, width), std::move(net));
  });
}

}  // namespace harmonium
