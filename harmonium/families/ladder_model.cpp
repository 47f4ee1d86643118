#include "harmonium/families/ladder_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/model_header.h"
#include "harmonium/gradients/objectives/ladder_bound.h"

namespace harmonium {

std::string LadderModel::subtitle() const {
  const LadderStructure& shape = ladder_.structure();
  std::string text = shape.height > 0 ? format("{} × {} pixels", shape.height, shape.width) : shape.visible;
  for (std::size_t l = 0; l < ladder_.levels(); ++l) {
    text += format(" – {}", shape.latent[l]);
    const std::int64_t scale = ladder_.net().shape().levels[l].scale;
    if (shape.height > 0)
      text += format(" at each of {} × {} places", ladder_.net().grid_rows(scale), ladder_.net().grid_columns(scale));
  }
  return text + format(" latent variables; {} channels, {} block{} of each level", shape.channels, shape.blocks,
                       shape.blocks == 1 ? "" : "s");
}

std::vector<Model::LayerText> LadderModel::layers() const {
  std::vector<LayerText> texts = {{.name = "visible", .unit = ladder_.structure().visible, .observed = true}};
  for (std::size_t l = 0; l < ladder_.levels(); ++l)
    texts.push_back({.name = format("latent{}", l + 1), .unit = format("gaussian:{}", ladder_.latent(l).width())});
  return texts;
}

std::string LadderModel::use_of_latents(const at::Tensor& rows) const {
  const LadderFindings found = ladder_findings(ladder_, ladder_.parameters(), rows, Key(0));
  std::vector<std::int64_t> widths;
  for (std::size_t l = 0; l < ladder_.levels(); ++l) widths.push_back(ladder_.latent(l).width());
  return latents_in_words(found.kl, found.active, widths);
}

at::Tensor LadderModel::placed(const at::Tensor& rows) const {
  return walked(rows, [](const LadderWalk& walk) {
    std::vector<at::Tensor> noise;
    for (const LadderLevel& level : walk.levels) noise.push_back(level.noise);
    return at::cat(noise, 1);
  });
}

at::Tensor LadderModel::divergences(const at::Tensor& rows) const {
  return ladder_findings(ladder_, ladder_.parameters(), rows, Key(0)).kl_of_variables;
}

nlohmann::json LadderModel::structure() const {
  const LadderStructure& shape = ladder_.structure();
  return {{"ladder",
           {{"visible", shape.visible},
            {"height", shape.height},
            {"width", shape.width},
            {"latent", shape.latent},
            {"scales", shape.scales},
            {"channels", shape.channels},
            {"blocks", shape.blocks},
            {"kernel", shape.kernel}}}};
}

std::vector<std::string> LadderModel::code_layers() const {
  std::vector<std::string> names;
  for (std::size_t l = 0; l < ladder_.levels(); ++l) names.push_back(format("latent{}", l + 1));
  return names;
}

template <class Take>
at::Tensor LadderModel::walked(const at::Tensor& rows, const Take& take) const {
  constexpr std::int64_t rows_at_once = 200;
  const c10::NoGradGuard without_gradient;
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first == 0 || first < rows.size(0); first += rows_at_once) {
    const at::Tensor part = rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first)).to(device());
    parts.push_back(on_cpu(take(ladder_.walk(ladder_.parameters(), part, 1, ladder_.most_probable()))));
  }
  return at::cat(parts);
}

at::Tensor LadderModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return walked(rows, [&](const LadderWalk& walk) { return walk.levels.at(layer).latents; });
}

at::Tensor LadderModel::reconstruct(const at::Tensor& rows) const {
  return walked(rows, [&](const LadderWalk& walk) { return ladder_.visible().mean(walk.visible_raw); });
}

std::unique_ptr<Model> read_ladder(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "ladder", where, [&](const nlohmann::json& shape) {
    const LadderStructure structure{.visible = shape.at("visible"),
                                    .height = whole_number(shape.at("height")),
                                    .width = whole_number(shape.at("width")),
                                    .latent = whole_numbers(shape.at("latent")),
                                    .scales = whole_numbers(shape.at("scales")),
                                    .channels = whole_number(shape.at("channels")),
                                    .blocks = whole_number(shape.at("blocks")),
                                    .kernel = whole_number(shape.at("kernel"))};
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return least <= value && value <= most;
    };
    const auto all_within = [&](const std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) {
      return std::ranges::all_of(values, [&](std::int64_t value) { return within(value, least, most); });
    };
    const bool dense = structure.height == 0 && structure.width == 0;
    require((dense || (within(structure.height, 1, most_units) && within(structure.width, 1, most_units) &&
                       structure.height * structure.width <= most_units)) &&
                within(static_cast<std::int64_t>(structure.latent.size()), 1, LadderModel::most_levels) &&
                structure.scales.size() == (dense ? 0 : structure.latent.size()) &&
                all_within(structure.latent, 1, most_units) && all_within(structure.scales, 0, 20) &&
                within(structure.channels, 1, LadderModel::most_channels) &&
                within(structure.blocks, 1, LadderModel::most_blocks) &&
                within(structure.kernel, 1, LadderModel::most_kernel) && structure.kernel % 2 == 1,
            "{}: pictures of {} × {}, {} levels of latent variables at {} scales, {} channels, {} blocks and a kernel "
            "of {} make no ladder",
            where, structure.height, structure.width, structure.latent.size(), structure.scales.size(),
            structure.channels, structure.blocks, structure.kernel);
    const std::int64_t width = make_distribution(structure.visible)->width();
    require(width <= most_units, "{}: rows of {} values are none of a ladder", where, width);
    const LadderNet net = naming(where, [&] { return LadderNet(Ladder::net_shape(structure)); });
    const double top = static_cast<double>(structure.channels) *
                       static_cast<double>(net.grid_rows(net.halvings()) * net.grid_columns(net.halvings()));
    require_numbers(file, net.weights() + top, where);
    Ladder ladder = naming(where, [&] { return Ladder(structure); });
    read_parameters(ladder.parameters(), file, where);
    return std::make_unique<LadderModel>(info_of(header, width), std::move(ladder));
  });
}

}  // namespace harmonium
