// The family capsules (models/capsules/capsule_autoencoder.h): pictures drawn by learnt templates under poses.
#include <algorithm>
#include <cmath>

#include <c10/core/GradMode.h>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/capsule_model.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/capsules/capsule_loss.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

struct CapsuleOptions {
  std::int64_t composites = 25, parts = 9, template_size = 0, channels = 1, distortions = 30;
  std::string encoder_layers = "none", skips = "yes", last_layer = "square", poses = "nice";
  std::string output_model = "semisoft";
  double sharpness = 100;
  std::string ink = "nonnegative";
  double dropout = 0.5, distortion_dropout = 0.5, manager_noise = 10, manager_noise_warmup = 0;
  double weight_decay = 1e-6, code_decay = 1e-6, scaling = 1e-2, sharing = 2e-5;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    static const std::string output_help = "how parts become a picture: " + output_model_names();
    visitor("composites", self.composites, "composite capsules, of which the manager picks one (0: parts alone)");
    visitor("parts", self.parts, "parts, each with a template");
    visitor("template", self.template_size, "side of a template in pixels (0: two fifths of the picture's)");
    visitor("channels", self.channels, "templates of each part, each with an intensity of its own");
    visitor("distortions", self.distortions, "numbers that bend a composite (0: rigid)");
    visitor("encoder_layers", self.encoder_layers, "hidden layers of the encoder, where they are not --layers: 2000");
    visitor("skips", self.skips, "yes: every hidden layer of the encoder feeds its output; no: only the last one");
    visitor("last_layer", self.last_layer, "values of the encoder's last hidden layer: square, logistic");
    visitor("poses", self.poses,
            "numbers of a pose: nice (translation, scaling, shear, rotation), matrix (its entries)");
    visitor("output_model", self.output_model, output_help.c_str());
    visitor("sharpness", self.sharpness, "semisoft: how near it is to the maximum");
    visitor("ink", self.ink, "nonnegative, or any: templates and intensities may be negative");
    visitor("dropout", self.dropout, "share of the encoder's hidden values dropped in an update");
    visitor("distortion_dropout", self.distortion_dropout, "share of distortions dropped in an update");
    visitor("manager_noise", self.manager_noise, "uniform noise on the manager's preferences in an update, up to this");
    visitor("manager_noise_warmup", self.manager_noise_warmup,
            "share of the updates over which the noise grows from 0 (0: at once)");
    visitor("weight_decay", self.weight_decay, "penalty on squares of parameters beyond 0.1");
    visitor("code_decay", self.code_decay, "penalty on preferences, distortions and poses away from rest");
    visitor("scaling", self.scaling, "penalty on parts that are larger than the picture, or mirrored");
    visitor("sharing", self.sharing, "penalty that keeps every composite in use");
  }
};

std::vector<std::int64_t> encoder_layers(const CapsuleOptions& own) {
  return own.encoder_layers == "none" ? std::vector<std::int64_t>{} : layer_widths(own.encoder_layers);
}

CapsuleShape shape_of(const RunConfig& config, const Dataset& data) {
  const auto& own = config.own.as<CapsuleOptions>();
  const ImageShape image = data.image.value_or(ImageShape{.height = 1, .width = data.columns()});
  return {.canvas = {image.height, image.width},
          .composites = own.composites,
          .parts = own.parts,
          .template_size = own.template_size,
          .channels = own.channels,
          .distortions = own.distortions,
          .hidden = layer_widths(config.layers),
          .encoder_hidden = encoder_layers(own),
          .encoder = {.skips = own.skips == "yes", .squares = own.last_layer == "square"},
          .poses = own.poses == "matrix" ? PoseForm::matrix : PoseForm::nice,
          .output = {.model = parse_output_model(own.output_model), .sharpness = own.sharpness},
          .negative_ink = own.ink == "any"};
}

void resolve(RunConfig& config, RunData& data) {
  auto& own = config.own.as<CapsuleOptions>();
  require(make_unit(config.visible)->support() == Unit::Support::reals,
          "@visible {}: capsules draw pictures of gray values; use @visible gaussian", config.visible);
  require(config.binarize == "none", "@binarize {}: capsules draw pictures of gray values, which are not binarized",
          config.binarize);
  const auto one_of = [](const char* option, const std::string& given, const char* first, const char* second) {
    require(given == first || given == second, "{} {}: there are {} and {}", option, given, first, second);
  };
  one_of("@ink", own.ink, "nonnegative", "any");
  one_of("@skips", own.skips, "yes", "no");
  one_of("@last_layer", own.last_layer, "square", "logistic");
  one_of("@poses", own.poses, "nice", "matrix");
  for (const auto& [name, share] :
       {std::pair("@dropout", own.dropout), std::pair("@distortion_dropout", own.distortion_dropout)})
    require(share >= 0 && share < 1, "{} must be at least 0 and below 1, not {}", name, share);
  require(own.manager_noise_warmup >= 0 && own.manager_noise_warmup <= 1,
          "@manager_noise_warmup {}: give a share of the updates, from 0 to 1", own.manager_noise_warmup);
  for (const auto& [name, value] :
       {std::pair("@manager_noise", own.manager_noise), std::pair("@weight_decay", own.weight_decay),
        std::pair("@code_decay", own.code_decay), std::pair("@scaling", own.scaling),
        std::pair("@sharing", own.sharing)})
    require(std::isfinite(value) && value >= 0, "{} must be a number that is not negative, not {}", name, value);
  if (config.layers == "none") config.layers = "666,666,666";
  resolve_likelihood(config, 0.001);
  // Adam's first steps are full-sized and, since hidden values are positive, all push an output the same way: without a
  // warm-up wide nets throw their parts off the picture within 20 updates.
  constexpr std::int64_t usual_warmup = 1000, share_of_updates = 5;
  if (config.rate_warmup == 0 && config.optimizer == "adam")
    config.rate_warmup = std::min(usual_warmup, config.updates / share_of_updates);
  if (own.template_size == 0) {
    constexpr double share = 11.0 / 28;  // as published
    const CapsuleShape shape = shape_of(config, data.train);
    own.template_size = std::max<std::int64_t>(
        3, std::llround(share * static_cast<double>(std::min(shape.canvas.rows, shape.canvas.columns))));
  }
  require_capsules(shape_of(config, data.train));
}

// The rows whose poses samples are like.
at::Tensor posed_rows(const Dataset& train) {
  constexpr std::int64_t most_rows = 2000;
  return train.first(most_rows).to_float();
}

std::unique_ptr<Model> model_of(const ModelInfo& info, const CapsuleAutoencoder& capsules, const at::Tensor& rows) {
  PosePrior prior = pose_prior(capsules, rows.to(capsules.parameters()["templates"].options()));
  return std::make_unique<CapsuleModel>(info, capsules, std::move(prior));
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  CapsuleAutoencoder capsules(shape_of(config, data.train));
  initialize(capsules, Key(config.seed).fold_in(run_streams::initial), data.train.column_means());
  return model_of(initial_info(config, data), capsules, posed_rows(data.train));
}

// What went wrong where nothing is drawn any more: nothing has a gradient then, so it stays so.
void require_ink(const CapsuleAutoencoder& capsules, const at::Tensor& images, std::int64_t update) {
  constexpr double least = 0.01;
  const c10::NoGradGuard no_gradients;
  const double drawn = capsules.draw(capsules.describe(images)).mean().item<double>(),
               wanted = images.mean().item<double>();
  if (!(drawn >= least * wanted))
    throw Diverged(
        format("update {}: the capsules draw nothing any more (mean ink {:.3g}, of the data {:.3g}), and what "
               "is off the picture has no gradient. Lower @rate_weights, or raise @rate_warmup",
               update, drawn, wanted));
}

std::map<std::string, double> measures_of(const CapsuleAutoencoder& capsules, const CapsulePenalties& penalties,
                                          const at::Tensor& rows) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor images = rows.to(capsules.parameters()["templates"].options());
  const Scene scene = capsules.describe(images);
  const CapsuleLoss loss = capsule_loss(capsules, images, penalties, {});
  std::map<std::string, double> found = {{"pixel_error", loss.error.item<double>()},
                                         {"weight_decay", loss.weight_decay.item<double>()},
                                         {"code_decay", loss.code_decay.item<double>()},
                                         {"scaling", loss.scaling.item<double>()},
                                         {"ink", capsules.draw(scene).mean().item<double>()}};
  if (capsules.shape().composites == 0) return found;
  const at::Tensor y = scene.shares, mean = y.mean(0);
  constexpr double sure = 0.99;
  found["sharing"] = loss.sharing.item<double>();
  found["manager_entropy"] = -at::xlogy(y, y).sum(1).mean().item<double>();
  found["manager_sure"] = y.amax(1).ge(sure).to(at::kDouble).mean().item<double>();
  found["smallest_share"] = mean.min().item<double>();
  found["largest_share"] = mean.max().item<double>();
  return found;
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const CapsuleModel&>(start);
  const auto& own = config.own.as<CapsuleOptions>();
  const CapsuleAutoencoder capsules = begun.capsules().to(at::TensorOptions().device(find_device(config.device)));
  const CapsulePenalties penalties{
      .weight_decay = own.weight_decay, .code_decay = own.code_decay, .scaling = own.scaling, .sharing = own.sharing};
  auto objective = std::make_unique<SurrogateAscent>(
      capsules.parameters(), groups_by_name(capsules.parameters()), "loss",
      [capsules, penalties, own](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        constexpr std::int64_t looks_every = 100;
        const at::Tensor& images = batch.front();
        if (step.update > 0 && step.update % looks_every == 0) require_ink(capsules, images, step.update);
        const double grown =
            own.manager_noise_warmup > 0 ? std::min(1.0, step.fraction / own.manager_noise_warmup) : 1.0;
        const CapsuleDisturbance disturbance = capsules.disturbance(step.key, images.size(0),
                                                                    {.dropout = own.dropout,
                                                                     .distortion_dropout = own.distortion_dropout,
                                                                     .manager_noise = grown * own.manager_noise});
        const at::Tensor loss = capsule_loss(capsules.with_parameters(leaves), images, penalties, disturbance).total();
        return SurrogateAscent::Value{.climbed = -loss, .shown = loss};
      });
  return train_by_likelihood(
      std::move(objective), config, data,
      {.model = [capsules, info = begun.info(), rows = posed_rows(data.train)](
                    const Moments& parameters) { return model_of(info, capsules.with_parameters(parameters), rows); },
       .measures =
           [capsules, penalties](const Moments& parameters, const at::Tensor& rows) {
             return measures_of(capsules.with_parameters(parameters), penalties, rows);
           },
       .kept_by = "pixel_error"});
}

// Both nets, whose layers all feed the outputs.
double weights_of(const RunConfig& config) {
  const auto& own = config.own.as<CapsuleOptions>();
  const auto pixels = static_cast<double>(make_unit(config.visible)->width()),
             of_parts = static_cast<double>(own.parts * (6 + own.channels)),
             composites = static_cast<double>(own.composites), distortions = static_cast<double>(own.distortions);
  double weights = 0;
  const std::vector<std::int64_t> own_layers = encoder_layers(own), layers = layer_widths(config.layers);
  const auto add = [&](const std::vector<std::int64_t>& hidden, double below, double outputs) {
    for (const std::int64_t width : hidden) {
      weights += static_cast<double>(width) * (below + outputs);
      below = static_cast<double>(width);
    }
  };
  add(own_layers.empty() ? layers : own_layers, pixels, own.composites > 0 ? composites * (8 + distortions) : of_parts);
  if (own.composites > 0) add(layers, composites + distortions, of_parts);
  return weights;
}

// A sample of a part at a pixel is worth about so many multiplications.
double drawing_of(const RunConfig& config) {
  constexpr double of_sample = 100;
  return of_sample * static_cast<double>(config.own.as<CapsuleOptions>().parts) *
         static_cast<double>(make_unit(config.visible)->width());
}

std::vector<std::string> options_of_capsules() {
  namespace groups = option_groups;
  std::vector<std::string> names =
      groups::joined({groups::common(), {"snapshots", "layers", "patience", "rate_warmup"}});
  for (const char* other : {"shrink", "weight_decay", "weight_decay_l1"}) std::erase(names, other);
  return names;
}

}  // namespace

Family capsules_family() {
  return {.name = "capsules",
          .title = "Capsule autoencoder",
          .help = "autoencoder that draws pictures by learnt templates under poses, parts of composites; no likelihood",
          .example =
              "harmonium train --data digits --model capsules --parts 5 --composites 15 --template 5 "
              "--distortions 6 --layers 100,100,100 --updates 500",
          .options = options_of_capsules(),
          .own = OwnOptions(CapsuleOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read_capsules,
          .size =
              [](const RunConfig& config) {
                return ModelSize{.weights = weights_of(config), .units = drawing_of(config) / 10};
              },
          .products =
              [](const RunConfig& config) {
                return static_cast<double>(config.batch) * (3 * weights_of(config) + drawing_of(config));
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<CapsuleOptions>();
                return format("{} – {} – {} composites of {} parts, {} distortions", config.visible, config.layers,
                              own.composites, own.parts, own.distortions);
              },
          .real_values = true,
          .binarizes = false,
          .keeps_best = true};
}

}  // namespace harmonium
