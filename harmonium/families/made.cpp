// The family made: masked autoencoders (models/autoregressive/masked_net.h).
#include "harmonium/core/error.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

struct MadeOptions {
  std::int64_t masks = 1;
  std::string order = "auto", direct = "yes";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("masks", self.masks,
            "orders and masks that share the weights: updates take them in turn, the model is the mean of their p(x)");
    visitor("order", self.order, "order of the inputs: raster, random:SEED; auto: raster, with several masks random");
    visitor("direct", self.direct, "weights from inputs straight to outputs: yes, no");
  }
};

std::int64_t variables_of(const RunConfig& config) {
  return make_distribution(autoregressive_visible(config.visible, "a masked autoencoder"))->variables();
}

void resolve(RunConfig& config, RunData&) {
  auto& own = config.own.as<MadeOptions>();
  constexpr std::int64_t most_masks = 10'000;
  require(own.masks >= 1 && own.masks <= most_masks, "@masks {}: give a number from 1 to {}", own.masks, most_masks);
  require(own.direct == "yes" || own.direct == "no", "@direct {}: there are yes and no", own.direct);
  own.order = resolved_order(own.order, own.masks, config.seed, variables_of(config));
  if (config.layers == "none") config.layers = "500";
  (void)layer_widths(config.layers);
  if (config.activation == "auto") config.activation = "relu";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto& own = config.own.as<MadeOptions>();
  return make_masked_net(config, data,
                         {.visible = autoregressive_visible(config.visible, "a masked autoencoder"),
                          .hidden = layer_widths(config.layers),
                          .activation = parse_activation(config.activation),
                          .direct = own.direct == "yes",
                          .masks = own.masks,
                          .order = own.order,
                          .seed = config.seed});
}

ModelSize size_of(const RunConfig& config) {
  const auto width = static_cast<double>(make_unit(config.visible)->width());
  std::vector<double> widths = {width};
  for (const std::int64_t each : layer_widths(config.layers)) widths.push_back(static_cast<double>(each));
  widths.push_back(width);
  ModelSize size = size_of_chain(widths);
  if (config.own.as<MadeOptions>().direct == "yes") size.weights += width * width;
  return size;
}

}  // namespace

Family made_family() {
  namespace groups = option_groups;
  return {.name = "made",
          .title = "Masked autoencoder (MADE)",
          .help = "masked autoencoder: exact log-likelihood in one pass, several hidden layers, ensembles of orders",
          .example = "harmonium train --data digits --model made --layers 200,200 --masks 8 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"layers", "activation", "patience"}}),
          .own = OwnOptions(MadeOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train_masked_net,
          .read = read_masked_net,
          .size = size_of,
          .products =
              [](const RunConfig& config) { return 3 * static_cast<double>(config.batch) * size_of(config).weights; },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<MadeOptions>();
                std::string text = config.visible;
                for (const std::string& each : split_layers(config.layers)) text += " – " + each;
                return text + format(", order {}, {} mask{}", own.order, own.masks, own.masks == 1 ? "" : "s");
              },
          .keeps_best = true};
}

}  // namespace harmonium
