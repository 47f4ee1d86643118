#include "harmonium/families/vae_model.h"

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/model_header.h"
#include "harmonium/gradients/objectives/studied_net.h"

namespace harmonium {

namespace {

// "latent", or "latent2" where there are several.
std::string name_of_level(const Vae& vae, std::size_t level) {
  return vae.levels() == 1 ? "latent" : format("latent{}", level + 1);
}

// Files of models with one layer say nothing of others, as they always did.
std::vector<VaeLevel> levels_above(const nlohmann::json& shape) {
  std::vector<VaeLevel> above;
  if (!shape.contains("above")) return above;
  for (const nlohmann::json& each : shape.at("above"))
    above.push_back({.hidden = whole_numbers(each.at("hidden")), .latent = whole_number(each.at("latent"))});
  return above;
}

// Nothing where the nets are dense. Numbers are bounded: a damaged one must not ask for memory.
std::optional<PictureNetShape> picture_in(const nlohmann::json& shape, const std::string& where) {
  if (!shape.contains("picture")) return std::nullopt;
  const nlohmann::json& from = shape.at("picture");
  const PictureNetShape picture{.height = whole_number(from.at("height")),
                                .width = whole_number(from.at("width")),
                                .channels = whole_number(from.at("channels")),
                                .blocks = whole_number(from.at("blocks")),
                                .halvings = whole_number(from.at("halvings"))};
  constexpr std::int64_t most_pixels = 1 << 20;
  require(picture.height >= 1 && picture.width >= 1 && picture.height <= most_pixels &&
              picture.width <= most_pixels / picture.height && picture.channels <= VaeModel::most_channels &&
              picture.blocks <= VaeModel::most_blocks && picture.complaint().empty() && shape.at("hidden").empty(),
          "{}: {} × {} pixels, {} channels, {} blocks and {} halvings make no nets of a VAE", where, picture.height,
          picture.width, picture.channels, picture.blocks, picture.halvings);
  return picture;
}

}  // namespace

std::string VaeModel::subtitle() const {
  std::string text = vae_.structure().visible;
  if (const auto& shape = vae_.structure().picture)
    text += format(" – convolutions of {} channels, halved {}, {} block{} each", shape->channels,
                   shape->halvings == 1 ? "once" : format("{} times", shape->halvings), shape->blocks,
                   shape->blocks == 1 ? "" : "s");
  for (const VaeLevel& level : vae_.structure().levels()) {
    for (const std::int64_t width : level.hidden) text += format(" – {}", width);
    text += format(" – {} latent variables", level.latent);
  }
  return text;
}

std::vector<Model::LayerText> VaeModel::layers() const {
  std::vector<LayerText> texts = {{.name = "visible", .unit = vae_.structure().visible, .observed = true}};
  const std::vector<VaeLevel> levels = vae_.structure().levels();
  std::size_t number = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    for (const std::int64_t width : levels[l].hidden)
      texts.push_back({.name = format("layer{}", ++number),
                       .unit = format("{}:{}", to_string(vae_.structure().activation), width)});
    texts.push_back({.name = name_of_level(vae_, l), .unit = format("gaussian:{}", levels[l].latent)});
  }
  return texts;
}

std::optional<StudiedNet> VaeModel::studied_net() const { return studied(vae_); }

std::string VaeModel::use_of_latents(const at::Tensor& rows) const {
  const LatentActivity found = latent_activity(vae_, rows);
  std::vector<std::int64_t> widths;
  for (const VaeLevel& level : vae_.structure().levels()) widths.push_back(level.latent);
  return latents_in_words(found.kl_of_layers, found.active_of_layers, widths);
}

at::Tensor VaeModel::placed(const at::Tensor& rows) const {
  std::vector<at::Tensor> means;
  for (std::size_t level = 0; level < vae_.levels(); ++level) means.push_back(vae_.encode(rows, level).means);
  return vae_.decoder()->noise(vae_.parameters(), means);
}

at::Tensor VaeModel::divergences(const at::Tensor& rows) const { return latent_activity(vae_, rows).kl; }

nlohmann::json VaeModel::structure() const {
  const VaeStructure& shape = vae_.structure();
  nlohmann::json described = {{"visible", shape.visible},
                              {"hidden", shape.hidden},
                              {"latent", shape.latent},
                              {"activation", to_string(shape.activation)}};
  for (const VaeLevel& each : shape.above)
    described["above"].push_back({{"hidden", each.hidden}, {"latent", each.latent}});
  if (const auto& picture = shape.picture)
    described["picture"] = {{"height", picture->height},
                            {"width", picture->width},
                            {"channels", picture->channels},
                            {"blocks", picture->blocks},
                            {"halvings", picture->halvings}};
  return {{"vae", described}};
}

std::vector<std::string> VaeModel::code_layers() const {
  std::vector<std::string> names;
  for (std::size_t l = 0; l < vae_.levels(); ++l) names.push_back(name_of_level(vae_, l));
  return names;
}

at::Tensor VaeModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return on_cpu(vae_.encode(rows.to(device()), layer).means);
}

at::Tensor VaeModel::reconstruct(const at::Tensor& rows) const { return on_cpu(vae_.reconstruct(rows.to(device()))); }

std::unique_ptr<Model> read_vae(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "vae", where, [&](const nlohmann::json& shape) {
    VaeStructure structure{.visible = shape.at("visible"),
                           .hidden = whole_numbers(shape.at("hidden")),
                           .latent = whole_number(shape.at("latent")),
                           .activation = parse_activation(shape.at("activation")),
                           .above = levels_above(shape),
                           .picture = picture_in(shape, where)};
    // A damaged number must not ask for memory.
    constexpr std::int64_t most_units = 1 << 20;
    constexpr std::size_t most_layers = 1000;
    double numbers = 0;  // at least: up and down
    std::int64_t below = make_distribution(structure.visible)->width();
    const auto next = [&](std::int64_t width) {
      require(width >= 1 && width <= most_units, "{}: a layer of {} units is no layer of a VAE", where, width);
      numbers += 2 * static_cast<double>(below) * static_cast<double>(width);
      below = width;
    };
    require(below <= most_units, "{}: a layer of {} units is no layer of a VAE", where, below);
    if (structure.picture) {
      require(structure.picture->height * structure.picture->width == below,
              "{}: pictures of {} × {} pixels are no rows of {}", where, structure.picture->height,
              structure.picture->width, structure.visible);
      numbers += 2 * structure.picture->weights();
      below = structure.picture->smallest();
    }
    const std::vector<VaeLevel> levels = structure.levels();
    require(levels.size() <= most_layers, "{}: a VAE of more than {} layers; the file is damaged", where, most_layers);
    for (const VaeLevel& level : levels) {
      for (const std::int64_t width : level.hidden) next(width);
      next(level.latent);
    }
    require_numbers(file, numbers, where);
    Vae vae(std::move(structure));
    read_parameters(vae.parameters(), file, where);
    const std::int64_t width = vae.visible().width();
    return std::make_unique<VaeModel>(info_of(header, width), std::move(vae));
  });
}

}  // namespace harmonium
