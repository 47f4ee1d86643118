// The family neural_autoregressive: groups of hidden units with weights of their own for every conditional (Bengio &
// Bengio 2000; models/autoregressive/masked_net.h in groups).
#include "harmonium/core/error.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

struct NeuralAutoregressiveOptions {
  std::int64_t group = 8;
  std::string order = "raster", direct = "no";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("group", self.group, "hidden units of each group; there is a group for every input but the last");
    visitor("order", self.order, "order of the inputs: raster, or random:SEED");
    visitor("direct", self.direct, "weights from inputs straight to outputs: yes, no");
  }
};

std::string distribution_of(const RunConfig& config) {
  return autoregressive_visible(config.visible, "a neural autoregressive net");
}

ModelSize size_of(const RunConfig& config) {
  const auto& own = config.own.as<NeuralAutoregressiveOptions>();
  const auto visible = make_distribution(distribution_of(config));
  const auto width = static_cast<double>(visible->width()), outputs = static_cast<double>(visible->raw_width()),
             units = static_cast<double>(visible->variables() - 1) * static_cast<double>(own.group);
  const double direct = own.direct == "yes" ? width * outputs : 0;
  return {.weights = units * (width + outputs) + direct, .units = width + outputs + units};
}

void resolve(RunConfig& config, RunData&) {
  auto& own = config.own.as<NeuralAutoregressiveOptions>();
  const std::int64_t variables = make_distribution(distribution_of(config))->variables();
  require(variables >= 2, "@visible {}: a neural autoregressive net needs at least two inputs", config.visible);
  constexpr std::int64_t most_units = 1 << 20;
  constexpr double most_weights = 1 << 28;
  require(own.group >= 1 && own.group <= most_units, "@group {}: give a number of hidden units, 1 to {}", own.group,
          most_units);
  require(own.group <= most_units / (variables - 1) && size_of(config).weights <= most_weights,
          "@group {}: {} inputs then have {:.3g} weights, which grow with the square of the inputs; choose a smaller "
          "@group, or nade or made, which share weights",
          own.group, variables, size_of(config).weights);
  require(own.direct == "yes" || own.direct == "no", "@direct {}: there are yes and no", own.direct);
  own.order = resolved_order(own.order, 1, config.seed, variables);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden units may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto& own = config.own.as<NeuralAutoregressiveOptions>();
  return make_masked_net(config, data,
                         {.visible = distribution_of(config),
                          .hidden = {},
                          .activation = parse_activation(config.activation),
                          .direct = own.direct == "yes",
                          .order = own.order,
                          .group = own.group});
}

}  // namespace

Family neural_autoregressive_family() {
  namespace groups = option_groups;
  return {
      .name = "neural_autoregressive",
      .title = "Neural autoregressive net",
      .help = "neural autoregressive net: every pixel has hidden units and weights of its own, exact log-likelihood",
      .example = "harmonium train --data digits --model neural_autoregressive --group 8 --updates 500",
      .options = groups::joined({groups::common(), groups::tracked(), {"activation", "patience"}}),
      .own = OwnOptions(NeuralAutoregressiveOptions{}),
      .resolve = resolve,
      .make = make,
      .train = train_masked_net,
      .read = read_masked_net,
      .size = size_of,
      .products =
          [](const RunConfig& config) { return 3 * static_cast<double>(config.batch) * size_of(config).weights; },
      .words =
          [](const RunConfig& config) {
            const auto& own = config.own.as<NeuralAutoregressiveOptions>();
            return format("{}, groups of {}, order {}", config.visible, own.group, own.order);
          },
      .keeps_best = true};
}

}  // namespace harmonium
