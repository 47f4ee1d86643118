// The family vae (models/directed/vae.h): variational autoencoders with dense nets.
#include "harmonium/models/directed/vae.h"

#include <c10/core/GradMode.h>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/gradients/objectives/path_objective.h"
#include "harmonium/gradients/objectives/studied_net.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/training/objectives/ascent.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

const char* path_objective_help() {
  static const std::string text = [] {
    std::string all = "what to climb, and how its gradient is estimated: elbo (the one-draw bound, KL in closed form)";
    for (const PathObjectiveType& each : path_objectives())
      all += format("; {} ({}{})", each.form, each.help,
                    each.usual > 1 ? format(", {} draws if K is left out", each.usual) : "");
    return all;
  }();
  return text.c_str();
}

struct VaeOptions {
  std::int64_t latent = 20;
  std::string objective = "elbo";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent, "number of latent variables");
    visitor("objective", self.objective, path_objective_help());
  }
};

class VaeModel final : public NormalizedModel, private Encoder {
 public:
  VaeModel(ModelInfo info, Vae vae)
      : NormalizedModel(std::move(info), vae.visible().unit_spec()), vae_(std::move(vae)) {}

  [[nodiscard]] const Vae& vae() const { return vae_; }
  [[nodiscard]] std::string title() const override { return "Variational autoencoder"; }
  [[nodiscard]] std::string subtitle() const override {
    std::string text = vae_.structure().visible;
    for (const std::int64_t width : vae_.structure().hidden) text += format(" – {}", width);
    return text + format(" – {} latent variables", vae_.structure().latent);
  }
  [[nodiscard]] Moments parameters() const override { return vae_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    std::vector<LayerText> texts = {{.name = "visible", .unit = vae_.structure().visible, .observed = true}};
    for (std::size_t i = 0; i < vae_.structure().hidden.size(); ++i)
      texts.push_back({.name = format("layer{}", i + 1),
                       .unit = format("{}:{}", to_string(vae_.structure().activation), vae_.structure().hidden[i])});
    texts.push_back({.name = "latent", .unit = format("gaussian:{}", vae_.structure().latent)});
    return texts;
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<VaeModel>(info_, vae_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<VaeModel>(info_, vae_); }
  [[nodiscard]] const Encoder* encoder() const override { return this; }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    constexpr std::int64_t samples = 60, columns = 20;
    std::vector<Exhibit> all = {
        {.id = "samples",
         .title = "Samples",
         .caption = "Means of the data's units given independent draws of the latent variables.",
         .rows = on_cpu(vae_.sample(Key(1), samples).means),
         .samples = true}};
    const Dataset& train = input.train;
    if (train.rows() < columns || train.columns() != visible().width()) return all;
    const at::Tensor rows = train.first(columns).to_float();
    all.push_back(
        {.id = "reconstructions",
         .title = "Reconstructions",
         .caption = format("Rows of {}, and below each its mean given the mean of the latent variables.", train.name),
         .rows = at::cat({rows, on_cpu(vae_.reconstruct(rows.to(device())))}),
         .columns = columns});
    return all;
  }
  [[nodiscard]] std::optional<StudiedNet> studied_net() const override { return studied(vae_); }
  [[nodiscard]] std::string remark() const override {
    return "Log-likelihoods are lower bounds, in nats per row. Numbers under different binarizations are not "
           "comparable.";
  }

 private:
  [[nodiscard]] at::Device device() const { return vae_.parameters().entries().front().second.device(); }

  [[nodiscard]] nlohmann::json structure() const override {
    const VaeStructure& shape = vae_.structure();
    return {{"vae",
             {{"visible", shape.visible},
              {"hidden", shape.hidden},
              {"latent", shape.latent},
              {"activation", to_string(shape.activation)}}}};
  }

  // Density: importance-weighted bound.
  void check(const EstimationOptions& options) const override {
    harmonium::check(options);
    require(options.method == "auto",
            "@method {}: a VAE is judged by importance sampling; leave @method out, and choose @importance",
            options.method);
  }
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal*) const override {
    check(options);
    require_tests(tests);
    return judge_by_importance(vae_, vae_.parameters(), visible(), tests, options, watcher);
  }
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override {
    return old.log_likelihood && old.log_likelihood->chains == options.importance;
  }

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override {
    const Dream dream = vae_.sample(Key(request.seed), request.count);
    return on_cpu(request.means ? dream.means : dream.visible);
  }
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }

  // Encoder: means of the latent variables.
  [[nodiscard]] std::vector<std::string> code_layers() const override { return {"latent"}; }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t) const override {
    return on_cpu(vae_.encode(rows.to(device())).means);
  }
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override {
    return on_cpu(vae_.reconstruct(rows.to(device())));
  }

  Vae vae_;
};

// Weights decay and move at the rate of weights; biases, and deviations, at that of biases.
std::vector<ParameterGroup> groups_of(const Vae& vae) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : vae.parameters().entries())
    (name.ends_with(".weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

// Encoder and decoder, which are as large.
ModelSize size_of(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const std::int64_t width : layer_widths(config.layers)) widths.push_back(static_cast<double>(width));
  widths.push_back(static_cast<double>(config.own.as<VaeOptions>().latent));
  const ModelSize half = size_of_chain(widths);
  return {.weights = 2 * half.weights, .units = 2 * half.units};
}

void resolve(RunConfig& config, RunData&) {
  const Unit::Support support = make_unit(config.visible)->support();
  require(support == Unit::Support::bits || support == Unit::Support::reals,
          "@visible {}: a VAE models bernoulli or gaussian data", config.visible);
  require(config.own.as<VaeOptions>().latent >= 1, "@latent {}: give a number of latent variables, 1 or more",
          config.own.as<VaeOptions>().latent);
  if (auto& own = config.own.as<VaeOptions>(); own.objective != "elbo")
    own.objective = PathObjective(own.objective).spec();
  if (config.layers == "none") config.layers = "200,200";
  (void)layer_widths(config.layers);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto visible = make_unit(config.visible);
  check_rows(data, *visible);
  // Without a floor, constant pixels would pay without limit.
  const bool bits = visible->support() == Unit::Support::bits;
  const std::int64_t columns = data.train.columns();
  Vae vae({.visible = bits ? format("bernoulli:{}", columns) : format("shared_gaussian:{}:0.01", columns),
           .hidden = layer_widths(config.layers),
           .latent = config.own.as<VaeOptions>().latent,
           .activation = parse_activation(config.activation)});
  initialize(vae, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<VaeModel>(initial_info(config, data), std::move(vae));
}

// Draws of each row.
std::int64_t draws_of(const RunConfig& config) {
  const std::string& spec = config.own.as<VaeOptions>().objective;
  return spec == "elbo" ? 1 : PathObjective(spec).draws();
}

std::unique_ptr<Objective> objective_of(const RunConfig& config, const Vae& vae) {
  const std::string& spec = config.own.as<VaeOptions>().objective;
  if (spec == "elbo")
    return std::make_unique<Ascent>(vae.parameters(), groups_of(vae), "log_likelihood",
                                    [vae](const std::vector<at::Tensor>& batch, const Key& key) {
                                      ElboGradient found = elbo_gradient(vae, batch.front(), key);
                                      return Ascent::Climb{.value = found.bound, .gradient = std::move(found.gradient)};
                                    });
  return std::make_unique<SurrogateAscent>(
      vae.parameters(), groups_of(vae), "log_likelihood",
      [vae, climbed = PathObjective(spec)](const Moments& leaves, const std::vector<at::Tensor>& batch,
                                           const Step& step) {
        const PathObjective::Surrogate found = climbed.estimate(vae, leaves, batch.front(), step.key);
        return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
      });
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const VaeModel&>(start);
  const Vae vae = begun.vae().to(at::TensorOptions().device(find_device(config.device)));
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  return train_by_likelihood(
      objective_of(config, vae), config, data,
      {.mean =
           [vae, watched, draws = draws_of(config)](const Moments& parameters, const at::Tensor& rows) {
             const c10::NoGradGuard no_gradients;
             const at::Tensor placed = rows.to(parameters.entries().front().second.device());
             if (draws > 1) return importance_bound(vae, parameters, placed, draws, watched).mean.value;
             return elbo_terms(vae.with_parameters(parameters), parameters, placed, watched).bound().item<double>();
           },
       .model = [vae, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<VaeModel>(info, vae.with_parameters(parameters));
       }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "vae", where, [&](const nlohmann::json& shape) {
    VaeStructure structure{.visible = shape.at("visible"),
                           .hidden = whole_numbers(shape.at("hidden")),
                           .latent = whole_number(shape.at("latent")),
                           .activation = parse_activation(shape.at("activation"))};
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    std::vector<std::int64_t> widths = {make_distribution(structure.visible)->width()};
    widths.insert(widths.end(), structure.hidden.begin(), structure.hidden.end());
    widths.push_back(structure.latent);
    double numbers = 0;  // at least: up and down
    for (std::size_t i = 0; i < widths.size(); ++i) {
      require(widths[i] >= 1 && widths[i] <= most_units, "{}: a layer of {} units is no layer of a VAE", where,
              widths[i]);
      if (i > 0) numbers += 2 * static_cast<double>(widths[i]) * static_cast<double>(widths[i - 1]);
    }
    require_numbers(file, numbers, where);
    Vae vae(std::move(structure));
    read_parameters(vae.parameters(), file, where);
    const std::int64_t width = vae.visible().width();
    return std::make_unique<VaeModel>(info_of(header, width), std::move(vae));
  });
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
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                return 3 * static_cast<double>(config.batch * draws_of(config)) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                std::string text = config.visible;
                for (const std::string& each : split_layers(config.layers)) text += " – " + each;
                const auto& own = config.own.as<VaeOptions>();
                return text + format(" – {} latent, {}", own.latent, own.objective);
              },
          .keeps_best = true};
}

}  // namespace harmonium
