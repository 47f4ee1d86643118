// The family draw (models/directed/draw.h): recurrent variational autoencoders that paint their rows step by step.
#include "harmonium/families/draw_model.h"

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_latent_training.h"
#include "harmonium/families/registry.h"
#include "harmonium/gradients/objectives/draw_bound.h"

namespace harmonium {

namespace {

struct DrawOptions {
  std::int64_t steps = 10, latent = 10, hidden = 0, read = 0, write = 0;
  BoundOptions bound = {};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("steps", self.steps, "how many times the canvas is painted on");
    visitor("latent", self.latent, "number of latent variables of each step");
    visitor("hidden", self.hidden, "units of either LSTM (0: 256, for rows of less than 400 values 64)");
    visitor("read", self.read, "pictures: attention reads a grid of N x N filters (0: the whole row)");
    visitor("write", self.write, "pictures: attention writes a grid of N x N filters (0: the whole row)");
    BoundOptions::visit(self.bound, visitor);
  }
};

std::vector<ParameterGroup> groups_of(const DrawNet& net) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : net.parameters().entries())
    (name.ends_with("weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

void resolve(RunConfig& config, RunData& data) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals,
          "@visible {}: a DRAW net models bernoulli or gaussian data", config.visible);
  auto& own = config.own.as<DrawOptions>();
  constexpr std::int64_t small = 400;
  if (own.hidden == 0) own.hidden = data.train.columns() < small ? 64 : 256;
  const auto within = [](const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
    require(value >= least && value <= most, "@{} {}: give a number from {} to {}", option, value, least, most);
  };
  within("steps", own.steps, 1, DrawModel::most_steps);
  within("latent", own.latent, 1, DrawModel::most_numbers);
  within("hidden", own.hidden, 1, DrawModel::most_numbers);
  within("read", own.read, 0, DrawModel::most_filters);
  within("write", own.write, 0, DrawModel::most_filters);
  require((own.read == 0 && own.write == 0) || data.train.image.has_value(),
          "@data {}: attention (@read, @write) needs pictures, and nothing says that rows of {} values are any; give "
          "their shape by @shape HEIGHTxWIDTH, such as 28x28, or leave @read and @write out",
          config.data, data.train.columns());
  own.bound.resolve();
  resolve_likelihood(config, 0.001);
}

// Of a configuration that is resolved.
DrawStructure structure_of(const RunConfig& config, const ImageShape& image, const std::string& visible) {
  const auto& own = config.own.as<DrawOptions>();
  return {.visible = visible,
          .height = image.height,
          .width = image.width,
          .steps = own.steps,
          .latent = own.latent,
          .hidden = own.hidden,
          .read = own.read,
          .write = own.write};
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto unit = make_unit(config.visible);
  check_rows(data, *unit);
  const std::int64_t columns = data.train.columns();
  // Without a floor, constant pixels would pay without limit.
  DrawNet net(structure_of(config, data.train.image.value_or(ImageShape{.height = 1, .width = columns}),
                           unit->support() == Unit::Support::bits ? format("bernoulli:{}", columns)
                                                                  : format("shared_gaussian:{}:0.01", columns)));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<DrawModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Objective> objective_of(const BoundOptions& bound, const DrawNet& net) {
  return make_objective(
      {.bound = bound,
       .parameters = net.parameters(),
       .groups = groups_of(net),
       .net = [shared = std::make_shared<const DrawNet>(net)](const Key&) { return shared; },
       .one_draw =
           [net](const Moments& leaves, const at::Tensor& rows, const Key& key, const ElboOptions& options) {
             const ElboTerms terms = draw_terms(net, leaves, rows, key);
             return SurrogateAscent::Value{.climbed = terms.objective(options), .shown = terms.bound()};
           }});
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const DrawModel&>(start);
  const DrawNet net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  const BoundOptions& bound = config.own.as<DrawOptions>().bound;
  const auto one_draw = [net](const Moments& parameters, const at::Tensor& rows, const Key& key) {
    return draw_terms(net, parameters, rows, key).bound().item<double>();
  };
  return train_by_likelihood(objective_of(bound, net), config, data,
                             {.mean = watched_bound(config, bound, std::make_shared<const DrawNet>(net), one_draw),
                              .model = [net, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
                                return std::make_unique<DrawModel>(info, net.with_parameters(parameters));
                              }});
}

ModelSize size_of(const RunConfig& config) {
  const std::int64_t pixels = make_unit(config.visible)->width();
  const auto& own = config.own.as<DrawOptions>();
  // Some ten tensors of each step are kept for the gradient, of the rows of a batch alone; the estimate of memory
  // counts units of watched rows as well. With a batch of 100 that comes to this.
  return {.weights = weights_of(structure_of(config, {.height = 1, .width = pixels}, config.visible)),
          .units = static_cast<double>(own.steps * own.bound.draws() * (pixels + 2 * own.hidden))};
}

}  // namespace

Family draw_family() {
  namespace groups = option_groups;
  return {.name = "draw",
          .title = "DRAW",
          .help =
              "recurrent variational autoencoder that paints step by step; its likelihood is bounded by importance "
              "sampling",
          .example = "harmonium train --data digits --model draw --steps 5 --read 2 --write 3 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"patience"}}),
          .own = OwnOptions(DrawOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read_draw_model,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                const auto& own = config.own.as<DrawOptions>();
                return 3 * static_cast<double>(config.batch * own.bound.draws() * own.steps) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<DrawOptions>();
                return format("{} – {} steps of {} latent, LSTMs of {}, {}, {}", config.visible, own.steps, own.latent,
                              own.hidden, attention_words(own.read, own.write), own.bound.objective);
              },
          .keeps_best = true};
}

}  // namespace harmonium
