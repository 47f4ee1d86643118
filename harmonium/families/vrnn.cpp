// The family vrnn (models/directed/vrnn.h): variational recurrent nets for sequences.
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/vrnn_judging.h"
#include "harmonium/families/vrnn_model.h"
#include "harmonium/gradients/objectives/vrnn_bound.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

struct VrnnOptions {
  std::int64_t hidden = 100, latent = 20, warm_up = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("hidden", self.hidden, "units of the GRU, which remembers the frames so far");
    visitor("latent", self.latent, "number of latent variables of each frame");
    visitor("warm_up", self.warm_up, "updates over which the weight of the KL rises from 0 to 1 (0: none)");
  }
};

std::vector<ParameterGroup> groups_of(const Vrnn& net) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : net.parameters().entries())
    (name.ends_with("weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

void resolve(RunConfig& config, RunData&) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals,
          "@visible {}: a variational recurrent net models bernoulli or gaussian data", config.visible);
  auto& own = config.own.as<VrnnOptions>();
  const auto within = [](const char* option, std::int64_t value, std::int64_t least) {
    require(value >= least && value <= VrnnModel::most_numbers, "@{} {}: give a number from {} to {}", option, value,
            least, VrnnModel::most_numbers);
  };
  within("hidden", own.hidden, 1);
  within("latent", own.latent, 1);
  require(own.warm_up >= 0, "@warm_up {}: give a number of updates, or 0", own.warm_up);
  if (config.layers == "none") config.layers = std::to_string(own.hidden);
  (void)layer_widths(config.layers);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

// Of a configuration that is resolved.
VrnnStructure structure_of(const RunConfig& config, const std::string& visible) {
  const auto& own = config.own.as<VrnnOptions>();
  return {.visible = visible,
          .units = own.hidden,
          .latent = own.latent,
          .layers = layer_widths(config.layers),
          .activation = parse_activation(config.activation)};
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto unit = make_unit(config.visible);
  check_rows(data, *unit);
  const std::int64_t columns = data.train.columns();
  // Without a floor, constant columns would pay without limit.
  Vrnn net(structure_of(config, unit->support() == Unit::Support::bits ? format("bernoulli:{}", columns)
                                                                       : format("shared_gaussian:{}:0.01", columns)));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  const std::int64_t usual = (data.train.rows() + data.train.cases() / 2) / data.train.cases();
  return std::make_unique<VrnnModel>(initial_info(config, data), std::move(net),
                                     std::min(usual, VrnnModel::most_frames));
}

// What a batch says of the mean per frame of the data, without a bias: short sequences do not count for more.
std::unique_ptr<Objective> objective_of(const Vrnn& net, const Dataset& train, std::int64_t warm_up) {
  const double usual = static_cast<double>(train.rows()) / static_cast<double>(train.cases());
  return std::make_unique<SurrogateAscent>(
      net.parameters(), groups_of(net), "log_likelihood",
      [net, usual, warm_up](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const at::Tensor counts = batch.at(1).contiguous();
        const std::vector<std::int64_t> alive(counts.data_ptr<std::int64_t>(),
                                              counts.data_ptr<std::int64_t>() + counts.numel());
        const VrnnTerms terms = vrnn_terms(net, leaves, batch.front(), alive, step.key);
        const double frames = usual * static_cast<double>(alive.front());
        const double beta =
            warm_up == 0 ? 1 : std::min(1.0, static_cast<double>(step.update) / static_cast<double>(warm_up));
        return SurrogateAscent::Value{.climbed = terms.bound(beta).sum() / frames,
                                      .shown = terms.bound().sum() / frames};
      });
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const VrnnModel&>(start);
  const Vrnn net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  return train_by_likelihood(objective_of(net, data.train, config.own.as<VrnnOptions>().warm_up), config, data,
                             {.model = [net, info = begun.info(), frames = begun.usual_frames()](
                                           const Moments& parameters) -> std::unique_ptr<Model> {
                                return std::make_unique<VrnnModel>(info, net.with_parameters(parameters), frames);
                              },
                              .mean_of_sequences =
                                  [net, watched](const Moments& parameters, const Dataset& rows) {
                                    constexpr std::int64_t draws = 2;
                                    return mean_bound(net.with_parameters(parameters), rows, draws, watched);
                                  }});
}

// Frames of a sequence, of which a configuration knows nothing: what decides about threads and estimates of memory.
constexpr std::int64_t guessed_frames = 50;

ModelSize size_of(const RunConfig& config) {
  const VrnnStructure structure = structure_of(config, format("bernoulli:{}", make_unit(config.visible)->width()));
  double units =
      static_cast<double>(4 * structure.units + 6 * structure.latent + 2 * make_unit(config.visible)->width());
  for (const std::int64_t width : structure.layers) units += 3 * static_cast<double>(width);
  return {.weights = weights_of(structure), .units = guessed_frames * units};
}

}  // namespace

Family vrnn_family() {
  namespace groups = option_groups;
  return {.name = "vrnn",
          .title = "Variational recurrent net",
          .help =
              "variational recurrent net for sequences (rows in order); its likelihood is bounded by a particle "
              "filter",
          .example = "harmonium train --data digits --model vrnn --hidden 50 --latent 10 --updates 300",
          .options =
              groups::joined({groups::common(), groups::tracked(), {"sequences", "layers", "activation", "patience"}}),
          .own = OwnOptions(VrnnOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read_vrnn_model,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                return 3 * static_cast<double>(config.batch * guessed_frames) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<VrnnOptions>();
                return format("{} – {} latent a frame – GRU of {}", config.visible, own.latent, own.hidden);
              },
          .keeps_best = true};
}

}  // namespace harmonium
