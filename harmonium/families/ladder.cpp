// The family ladder (models/directed/ladder.h): variational autoencoders whose inference runs down the same way as
// generation, with dense nets or convolutions over pictures.
#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/distributions/logistic_mixture.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/ladder_model.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/output_distribution.h"
#include "harmonium/families/real_latent_training.h"
#include "harmonium/families/registry.h"
#include "harmonium/gradients/objectives/ladder_bound.h"

namespace harmonium {

namespace {

struct LadderOptions {
  std::string latent = "auto", net = "dense", scales = "auto";
  std::int64_t channels = 0, blocks = 1, kernel = 3, components = 0;
  BoundOptions bound = {};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent,
            "latent variables of each level from the data up, such as 20,10; conv: at each place of the level's grid "
            "(auto: 20,10; conv: 2,4)");
    visitor("net", self.net, "dense, or conv: convolutions over pictures");
    visitor("scales", self.scales,
            "conv: how many times the picture is halved for each level, such as 0,1,1 (auto: once more for each level "
            "while four pixels are left)");
    visitor("channels", self.channels, "units of each layer; conv: numbers at every place (0: 100; conv: 32)");
    visitor("blocks", self.blocks, "gated residual blocks of each level, upwards and downwards");
    visitor("kernel", self.kernel, "conv: pixels that a convolution is wide, an odd number");
    visitor("components", self.components, components_help);
    BoundOptions::visit(self.bound, visitor);
  }
};

std::vector<std::int64_t> scales_of(const LadderOptions& own) {
  std::vector<std::int64_t> scales;
  for (const std::string& item : split_layers(own.scales)) {
    require(!item.empty() && item.size() <= 2 && item.find_first_not_of("0123456789") == std::string::npos,
            "@scales {}: '{}' is not a number of halvings; give one for each level from the data up, such as 0,1",
            own.scales, item);
    scales.push_back(std::stoll(item));
  }
  return scales;
}

// Of a configuration that is resolved; `image` is looked at for pictures alone.
LadderStructure structure_of(const RunConfig& config, const std::string& visible, const ImageShape& image) {
  const auto& own = config.own.as<LadderOptions>();
  const bool picture = own.net == "conv";
  return {.visible = visible,
          .height = picture ? image.height : 0,
          .width = picture ? image.width : 0,
          .latent = latent_widths(own.latent),
          .scales = scales_of(own),
          .channels = own.channels,
          .blocks = own.blocks,
          .kernel = own.kernel};
}

// What sizes are computed from, where the data are not at hand: a square picture, at least.
LadderNet net_of(const RunConfig& config) {
  const auto& own = config.own.as<LadderOptions>();
  // Of gray levels two: the number of levels changes nothing.
  const std::int64_t width = make_unit(config.visible)->width();
  const auto visible = [&](std::int64_t columns) {
    return own.components > 0 ? LogisticMixtureDistribution(columns, 2, own.components).spec()
                              : format("bernoulli:{}", columns);
  };
  LadderStructure structure = structure_of(config, visible(width), {});
  if (own.net == "conv") {
    const auto side = std::max(static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(width)))),
                               std::int64_t{1} << structure.scales.back());
    structure.height = structure.width = side;
    structure.visible = visible(side * side);
  }
  return LadderNet(Ladder::net_shape(structure));
}

void resolve_scales(LadderOptions& own, const RunConfig& config, const RunData& data) {
  if (own.net == "dense") {
    require(own.scales == "auto" || own.scales == "none", "@scales {} is for pictures: add @net conv", own.scales);
    own.scales = "none";
    return;
  }
  require(data.train.image.has_value(),
          "@net conv needs pictures, and nothing says that rows of {} values of {} are any; give their shape by @shape "
          "HEIGHTxWIDTH, such as 28x28, or take @net dense",
          data.train.columns(), config.data);
  const std::size_t levels = latent_widths(own.latent).size();
  if (own.scales == "auto") {
    constexpr std::int64_t fewest = 4;
    const std::int64_t side = std::min(data.train.image->height, data.train.image->width);
    std::int64_t scale = 0;
    own.scales = "0";
    for (std::size_t l = 1; l < levels; ++l) {
      if (side >> (scale + 1) >= fewest) ++scale;
      own.scales += format(",{}", scale);
    }
  }
  require(scales_of(own).size() == levels, "@scales {} has {} numbers, and @latent {} has {} levels", own.scales,
          scales_of(own).size(), own.latent, levels);
}

void resolve(RunConfig& config, RunData& data) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals,
          "@visible {}: a ladder models bernoulli or gaussian data", config.visible);
  auto& own = config.own.as<LadderOptions>();
  require(own.net == "dense" || own.net == "conv", "@net {}: there are dense and conv", own.net);
  const bool picture = own.net == "conv";
  if (own.latent == "auto") own.latent = picture ? "2,4" : "20,10";
  if (own.channels == 0) own.channels = picture ? 32 : 100;
  const auto levels = static_cast<std::int64_t>(latent_widths(own.latent).size());
  require(levels <= LadderModel::most_levels, "@latent {}: at most {} levels", own.latent, LadderModel::most_levels);
  require(own.channels >= 1 && own.channels <= LadderModel::most_channels, "@channels {}: give a number from 1 to {}",
          own.channels, LadderModel::most_channels);
  require(own.blocks >= 1 && own.blocks <= LadderModel::most_blocks, "@blocks {}: give a number from 1 to {}",
          own.blocks, LadderModel::most_blocks);
  require(own.kernel >= 1 && own.kernel <= LadderModel::most_kernel && own.kernel % 2 == 1,
          "@kernel {}: give an odd number from 1 to {}", own.kernel, LadderModel::most_kernel);
  require(config.dropout >= 0 && config.dropout < 1, "@dropout must be at least 0 and below 1, not {}", config.dropout);
  own.bound.resolve();
  resolve_components(config, own.components);
  resolve_scales(own, config, data);
  if (picture)
    (void)LadderNet(
        Ladder::net_shape(structure_of(config, output_distribution(config, data, own.components), *data.train.image)));
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  Ladder ladder(structure_of(config, output_distribution(config, data, config.own.as<LadderOptions>().components),
                             data.train.image.value_or(ImageShape{})));
  initialize(ladder, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<LadderModel>(initial_info(config, data), std::move(ladder));
}

std::unique_ptr<Objective> objective_of(const RunConfig& config, const Ladder& ladder) {
  const auto dropped = [ladder, share = config.dropout](const Key& key) {
    constexpr std::uint64_t dropout_stream = 0xD20;
    return std::make_shared<const Ladder>(ladder.dropping(share, key.fold_in(dropout_stream)));
  };
  return make_objective({.bound = config.own.as<LadderOptions>().bound,
                         .parameters = ladder.parameters(),
                         .groups = groups_by_name(ladder.parameters()),
                         .net = dropped,
                         .one_draw = [dropped](const Moments& leaves, const at::Tensor& rows, const Key& key,
                                               const ElboOptions& options) {
                           const LadderTerms terms = ladder_terms(*dropped(key), leaves, rows, key);
                           return SurrogateAscent::Value{.climbed = terms.objective(options), .shown = terms.bound()};
                         }});
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const LadderModel&>(start);
  const Ladder ladder = begun.ladder().to(at::TensorOptions().device(find_device(config.device)));
  const auto one_draw = [ladder](const Moments& parameters, const at::Tensor& rows, const Key& key) {
    if (rows.size(0) == 1) return ladder_terms(ladder, parameters, rows, key).bound().item<double>();
    return ladder_findings(ladder, parameters, rows, key).bound;
  };
  return train_by_likelihood(
      objective_of(config, ladder), config, data,
      {.mean = watched_bound(config, config.own.as<LadderOptions>().bound, std::make_shared<const Ladder>(ladder),
                             one_draw),
       .model = [ladder, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<LadderModel>(info, ladder.with_parameters(parameters));
       }});
}

}  // namespace

Family ladder_family() {
  namespace groups = option_groups;
  return {.name = "ladder",
          .title = "Ladder",
          .help =
              "variational autoencoder with levels of latent variables inferred from the top down; dense nets or "
              "convolutions",
          .example = "harmonium train --data digits --model ladder --latent 10,5 --channels 50 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"dropout", "patience"}}),
          .own = OwnOptions(LadderOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read_ladder,
          .size =
              [](const RunConfig& config) {
                const LadderNet net = net_of(config);
                return ModelSize{.weights = net.weights(),
                                 .units = static_cast<double>(make_unit(config.visible)->width()) + net.values()};
              },
          .products =
              [](const RunConfig& config) {
                const std::int64_t draws = config.own.as<LadderOptions>().bound.draws();
                return 3 * static_cast<double>(config.batch * draws) * net_of(config).products();
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<LadderOptions>();
                std::string text = values_in_words(config);
                for (const std::string& each : split_layers(own.latent)) text += " – " + each;
                return text + format(", {}, {} channels, {}", own.net, own.channels, own.bound.objective);
              },
          .gray_levels = true,
          .keeps_best = true};
}

}  // namespace harmonium
