// The family vae (models/directed/vae.h): variational autoencoders with dense nets.
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_latent_training.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/vae_model.h"
#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

namespace {

struct VaeOptions {
  std::string latent = "20";
  BoundOptions bound = {};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent,
            "number of latent variables; of several layers from the data up, such as 100,50 (@layers 200,200/100,100 "
            "are then the deterministic layers below the first and below the second, or the same below each where "
            "there is no /)");
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
std::vector<VaeLevel> levels_of(const RunConfig& config) {
  std::vector<std::vector<std::int64_t>> between;
  for (std::size_t begin = 0; begin <= config.layers.size();) {
    const std::size_t end = std::min(config.layers.find('/', begin), config.layers.size());
    between.push_back(layer_widths(config.layers.substr(begin, end - begin)));
    begin = end + 1;
  }
  const std::vector<std::int64_t> latent = latent_widths(config.own.as<VaeOptions>().latent);
  require(between.size() == 1 || between.size() == latent.size(),
          "@layers {} has deterministic layers for {} layers of latent variables, and @latent {} has {}", config.layers,
          between.size(), config.own.as<VaeOptions>().latent, latent.size());
  std::vector<VaeLevel> levels;
  for (std::size_t l = 0; l < latent.size(); ++l)
    levels.push_back({.hidden = between[between.size() == 1 ? 0 : l], .latent = latent[l]});
  return levels;
}

// Encoder and decoder, which are as large.
ModelSize size_of(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const VaeLevel& level : levels_of(config)) {
    for (const std::int64_t width : level.hidden) widths.push_back(static_cast<double>(width));
    widths.push_back(static_cast<double>(level.latent));
  }
  const ModelSize half = size_of_chain(widths);
  return {.weights = 2 * half.weights, .units = 2 * half.units};
}

void resolve(RunConfig& config, RunData&) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals,
          "@visible {}: a VAE models bernoulli or gaussian data", config.visible);
  config.own.as<VaeOptions>().bound.resolve();
  if (config.layers == "none") config.layers = "200,200";
  (void)levels_of(config);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto visible = make_unit(config.visible);
  check_rows(data, *visible);
  // Without a floor, constant pixels would pay without limit.
  const bool bits = visible->support() == Unit::Support::bits;
  const std::int64_t columns = data.train.columns();
  const std::vector<VaeLevel> levels = levels_of(config);
  Vae vae({.visible = bits ? format("bernoulli:{}", columns) : format("shared_gaussian:{}:0.01", columns),
           .hidden = levels.front().hidden,
           .latent = levels.front().latent,
           .activation = parse_activation(config.activation),
           .above = {levels.begin() + 1, levels.end()}});
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
  return {.name = "vae",
          .title = "Variational autoencoder",
          .help = "variational autoencoder with dense nets; its likelihood is bounded by importance sampling",
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
                return 3 * static_cast<double>(config.batch * draws) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                std::string text = config.visible;
                for (const VaeLevel& level : levels_of(config)) {
                  for (const std::int64_t width : level.hidden) text += format(" – {}", width);
                  text += format(" – {} latent", level.latent);
                }
                return text + ", " + config.own.as<VaeOptions>().bound.objective;
              },
          .keeps_best = true};
}

}  // namespace harmonium
