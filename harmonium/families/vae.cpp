// The family vae (models/directed/vae.h): variational autoencoders with dense nets, or convolutions next to pictures.
#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/output_distribution.h"
#include "harmonium/families/real_latent_training.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/vae_model.h"
#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

namespace {

struct VaeOptions {
  std::string latent = "20", net = "dense";
  std::int64_t channels = 0, blocks = 1, halvings = 0, components = 0;
  BoundOptions bound = {};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent,
            "number of latent variables; of several layers from the data up, such as 100,50 (@layers 200,200/100,100 "
            "are then the deterministic layers below the first and below the second, or the same below each where "
            "there is no /)");
    visitor("net", self.net,
            "dense, or conv: convolutions between a picture and the first latent variables (@layers are then those "
            "below further layers of latent variables)");
    visitor("channels", self.channels, "conv: numbers at every place (0: 32)");
    visitor("blocks", self.blocks, "conv: gated residual blocks after each halving, and before each doubling");
    visitor("halvings", self.halvings,
            "conv: how many times the picture is halved (0: once, and again while its shorter side keeps four pixels)");
    visitor("components", self.components, components_help);
    BoundOptions::visit(self.bound, visitor);
  }
};

// Weights decay and move at the rate of weights; biases, and deviations, at that of biases.
std::vector<ParameterGroup> groups_of(const Vae& vae) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : vae.parameters().entries())
    (name.ends_with(".weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

// Layers of latent variables with the deterministic ones below each, from the data up: those between two / are of one.
// Convolutions stand in place of the first ones.
std::vector<VaeLevel> levels_of(const RunConfig& config) {
  const std::size_t convolutions = config.own.as<VaeOptions>().net == "conv" ? 1 : 0;
  std::vector<std::vector<std::int64_t>> between;
  for (std::size_t begin = 0; begin <= config.layers.size();) {
    const std::size_t end = std::min(config.layers.find('/', begin), config.layers.size());
    between.push_back(layer_widths(config.layers.substr(begin, end - begin)));
    begin = end + 1;
  }
  const std::vector<std::int64_t> latent = latent_widths(config.own.as<VaeOptions>().latent);
  require(convolutions == 0 || latent.size() > 1 || config.layers == "none",
          "@layers {}: with @net conv there are no dense layers below the first latent variables; leave @layers out",
          config.layers);
  require(between.size() == 1 || between.size() + convolutions == latent.size(),
          "@layers {} has deterministic layers for {} layers of latent variables, and @latent {} has {}{}",
          config.layers, between.size(), config.own.as<VaeOptions>().latent, latent.size(),
          convolutions > 0 ? ", of which the first has convolutions below it" : "");
  std::vector<VaeLevel> levels;
  for (std::size_t l = 0; l < latent.size(); ++l) {
    VaeLevel& level = levels.emplace_back(VaeLevel{.latent = latent[l]});
    if (l >= convolutions) level.hidden = between[between.size() == 1 ? 0 : l - convolutions];
  }
  return levels;
}

// Of a configuration that is resolved; nothing for dense nets.
std::optional<PictureNetShape> picture_of(const RunConfig& config, const ImageShape& image) {
  const auto& own = config.own.as<VaeOptions>();
  if (own.net != "conv") return std::nullopt;
  return PictureNetShape{.height = image.height,
                         .width = image.width,
                         .channels = own.channels,
                         .blocks = own.blocks,
                         .halvings = own.halvings};
}

// The same where the data are not at hand: a square picture, at least.
std::optional<PictureNetShape> picture_of(const RunConfig& config) {
  const auto side =
      static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(make_unit(config.visible)->width()))));
  return picture_of(config, {.height = side, .width = side});
}

void resolve_picture(VaeOptions& own, const RunConfig& config, const RunData& data) {
  require(own.net == "dense" || own.net == "conv", "@net {}: there are dense and conv", own.net);
  if (own.net == "dense") {
    const VaeOptions usual;
    require(own.channels == usual.channels && own.blocks == usual.blocks && own.halvings == usual.halvings,
            "@channels, @blocks and @halvings are about convolutions: add @net conv");
    return;
  }
  require(make_unit(config.visible)->support() != Unit::Support::one_hot,
          "@visible {}: @net conv takes pictures with one number at each pixel, not categories; take @net dense",
          config.visible);
  require(data.train.image.has_value(),
          "@net conv needs pictures, and nothing says that rows of {} values of {} are any; give their shape by @shape "
          "HEIGHTxWIDTH, such as 28x28, or take @net dense",
          data.train.columns(), config.data);
  require(own.channels >= 0 && own.channels <= VaeModel::most_channels, "@channels {}: give a number from 1 to {}",
          own.channels, VaeModel::most_channels);
  require(own.blocks >= 0 && own.blocks <= VaeModel::most_blocks, "@blocks {}: give a number from 0 to {}", own.blocks,
          VaeModel::most_blocks);
  require(own.halvings >= 0, "@halvings {}: give a number, 1 or more", own.halvings);
  if (own.channels == 0) own.channels = 32;
  if (own.halvings == 0) {
    constexpr std::int64_t fewest = 4;
    const PictureNetShape shape = *picture_of(config, *data.train.image);
    const auto side = [&](std::int64_t times) { return std::min(shape.rows(times), shape.columns(times)); };
    own.halvings = 1;
    while (side(own.halvings) > fewest && side(own.halvings + 1) >= fewest) ++own.halvings;
  }
  const PictureNetShape shape = *picture_of(config, *data.train.image);
  require(shape.complaint().empty(), "@halvings {}: {}", own.halvings, shape.complaint());
}

// Encoder and decoder, which are as large.
ModelSize size_of(const RunConfig& config) {
  const auto pixels = static_cast<double>(make_unit(config.visible)->width()),
             more = static_cast<double>(output_columns(config, config.own.as<VaeOptions>().components)) - pixels;
  const std::optional<PictureNetShape> picture = picture_of(config);
  std::vector<double> widths = {picture ? static_cast<double>(picture->smallest()) : pixels};
  for (const VaeLevel& level : levels_of(config)) {
    for (const std::int64_t width : level.hidden) widths.push_back(static_cast<double>(width));
    widths.push_back(static_cast<double>(level.latent));
  }
  const ModelSize half = size_of_chain(widths);
  ModelSize size = {.weights = 2 * half.weights, .units = 2 * half.units + more};
  size.weights +=
      picture ? 2 * picture->weights() + 9 * static_cast<double>(picture->channels) * more / pixels : widths[1] * more;
  if (picture) size.units += 2 * picture->products() / (9 * static_cast<double>(picture->channels));
  return size;
}

void resolve(RunConfig& config, RunData& data) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals || support == Unit::Support::one_hot,
          "@visible {}: a VAE models bernoulli, gaussian or softmax data", config.visible);
  auto& own = config.own.as<VaeOptions>();
  own.bound.resolve();
  resolve_components(config, own.components);
  resolve_picture(own, config, data);
  if (config.layers == "none" && own.net == "dense") config.layers = "200,200";
  if (config.layers == "none" && latent_widths(own.latent).size() > 1) config.layers = "100";
  (void)levels_of(config);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  const std::vector<VaeLevel> levels = levels_of(config);
  Vae vae({.visible = output_distribution(config, data, config.own.as<VaeOptions>().components),
           .hidden = levels.front().hidden,
           .latent = levels.front().latent,
           .activation = parse_activation(config.activation),
           .above = {levels.begin() + 1, levels.end()},
           .picture = picture_of(config, data.train.image.value_or(ImageShape{}))});
  initialize(vae, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<VaeModel>(initial_info(config, data), std::move(vae));
}

std::unique_ptr<Objective> objective_of(const BoundOptions& bound, const Vae& vae) {
  if (bound.one_draw() && bound.plain())
    return std::make_unique<Ascent>(vae.parameters(), groups_of(vae), "log_likelihood",
                                    [vae](const std::vector<at::Tensor>& batch, const Key& key) {
                                      ElboGradient found = elbo_gradient(vae, batch.front(), key);
                                      return Ascent::Climb{.value = found.bound, .gradient = std::move(found.gradient)};
                                    });
  return make_objective(
      {.bound = bound,
       .parameters = vae.parameters(),
       .groups = groups_of(vae),
       .net = [shared = std::make_shared<const Vae>(vae)](const Key&) { return shared; },
       .one_draw =
           [vae](const Moments& leaves, const at::Tensor& rows, const Key& key, const ElboOptions& options) {
             const ElboTerms terms = elbo_terms(vae, leaves, rows, key);
             return SurrogateAscent::Value{.climbed = terms.objective(options), .shown = terms.bound()};
           }});
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const VaeModel&>(start);
  const Vae vae = begun.vae().to(at::TensorOptions().device(find_device(config.device)));
  const BoundOptions& bound = config.own.as<VaeOptions>().bound;
  const auto one_draw = [vae](const Moments& parameters, const at::Tensor& rows, const Key& key) {
    return elbo_terms(vae.with_parameters(parameters), parameters, rows, key).bound().item<double>();
  };
  return train_by_likelihood(objective_of(bound, vae), config, data,
                             {.mean = watched_bound(config, bound, std::make_shared<const Vae>(vae), one_draw),
                              .model = [vae, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
                                return std::make_unique<VaeModel>(info, vae.with_parameters(parameters));
                              }});
}

}  // namespace

Family vae_family() {
  namespace groups = option_groups;
  return {
      .name = "vae",
      .title = "Variational autoencoder",
      .help =
          "variational autoencoder with dense nets or convolutions; its likelihood is bounded by importance sampling",
      .example = "harmonium train --data digits --model vae --layers 100 --latent 10 --updates 500",
      .options = groups::joined({groups::common(), groups::tracked(), {"layers", "activation", "patience"}}),
      .own = OwnOptions(VaeOptions{}),
      .resolve = resolve,
      .make = make,
      .train = train,
      .read = read_vae,
      .size = size_of,
      .products =
          [](const RunConfig& config) {
            const std::int64_t draws = config.own.as<VaeOptions>().bound.draws();
            const std::optional<PictureNetShape> picture = picture_of(config);
            return 3 * static_cast<double>(config.batch * draws) *
                   (size_of(config).weights + (picture ? 2 * picture->products() : 0));
          },
      .words =
          [](const RunConfig& config) {
            std::string text = values_in_words(config);
            if (config.own.as<VaeOptions>().net == "conv") text += " – convolutions";
            for (const VaeLevel& level : levels_of(config)) {
              for (const std::int64_t width : level.hidden) text += format(" – {}", width);
              text += format(" – {} latent", level.latent);
            }
            return text + ", " + config.own.as<VaeOptions>().bound.objective;
          },
      .gray_levels = true,
      .keeps_best = true};
}

}  // namespace harmonium
