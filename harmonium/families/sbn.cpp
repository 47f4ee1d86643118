// The family sbn (models/directed/sigmoid_belief_net.h): sigmoid belief nets with learned inference.
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/gradients/objectives/studied_net.h"
#include "harmonium/likelihood/bidirectional.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

const char* latent_objective_help() {
  static const std::string text = [] {
    std::string all = "what to climb, and how its gradient is estimated: ";
    for (const LatentObjectiveType& each : latent_objectives())
      all += format("{} ({}{}); ", each.form, each.help,
                    each.chooses_draws ? format(", {} draws if K is left out", each.usual) : "");
    return all.substr(0, all.size() - 2);
  }();
  return text.c_str();
}

const char* baseline_help() {
  static const std::string text = [] {
    std::string all = "elbo:K and nvil: what is taken off their signals: ";
    for (const BaselineType& each : signal_baselines()) all += format("{} ({}); ", each.name, each.help);
    return all + "auto: leave_one_out for elbo, net for nvil";
  }();
  return text.c_str();
}

struct SbnOptions {
  std::string latent = "200", objective = "vimco:10", baseline = "auto", normalize = "auto";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent, "layers of binary latent variables from the data up, such as 200,200");
    visitor("objective", self.objective, latent_objective_help());
    visitor("baseline", self.baseline, baseline_help());
    visitor("normalize", self.normalize,
            "elbo:K and nvil: divide signals by their running standard deviation where it is above 1: yes, no; auto: "
            "yes for nvil");
  }
};

class SbnModel final : public NormalizedModel, private Encoder {
 public:
  SbnModel(ModelInfo info, SigmoidBeliefNet net)
      : NormalizedModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const SigmoidBeliefNet& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "Sigmoid belief net"; }
  [[nodiscard]] std::string subtitle() const override {
    std::string text = net_.structure().visible;
    for (const std::int64_t width : net_.structure().latent) text += format(" – {}", width);
    for (const std::int64_t width : net_.structure().between)
      text += format("{}{}", &width == &net_.structure().between.front() ? "; between them " : " – ", width);
    return text;
  }
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    std::vector<LayerText> texts = {{.name = "visible", .unit = net_.structure().visible, .observed = true}};
    for (std::size_t i = 0; i < net_.structure().latent.size(); ++i)
      texts.push_back({.name = format("latent{}", i + 1), .unit = format("bernoulli:{}", net_.structure().latent[i])});
    return texts;
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<SbnModel>(info_, net_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<SbnModel>(info_, net_); }
  [[nodiscard]] const Encoder* encoder() const override { return this; }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput&) const override {
    constexpr std::int64_t samples = 60;
    return {{.id = "samples",
             .title = "Samples",
             .caption = "Means of the data's units given independent draws of the latent variables.",
             .rows = on_cpu(net_.dream(net_.parameters(), samples, Key(1)).means),
             .samples = true}};
  }
  [[nodiscard]] std::optional<StudiedNet> studied_net() const override { return studied(net_); }
  [[nodiscard]] std::string remark() const override {
    return "Log-likelihoods are lower bounds, in nats per row. Numbers under different binarizations are not "
           "comparable.";
  }

 private:
  [[nodiscard]] at::Device device() const { return net_.parameters().entries().front().second.device(); }

  [[nodiscard]] nlohmann::json structure() const override {
    const SigmoidBeliefNetStructure& shape = net_.structure();
    return {{"sbn",
             {{"visible", shape.visible},
              {"latent", shape.latent},
              {"between", shape.between},
              {"activation", to_string(shape.activation)}}}};
  }

  // Density: importance-weighted bound.
  void check(const EstimationOptions& options) const override {
    EstimationOptions others = options;
    if (options.method == "bihm") others.method = "auto";
    harmonium::check(others);
    require(others.method == "auto",
            "@method {}: a sigmoid belief net is judged by importance sampling, or as a bidirectional machine: leave "
            "@method out or give bihm, and choose @importance",
            options.method);
  }
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal*) const override {
    check(options);
    require_tests(tests);
    if (options.method == "bihm")
      return judge_bidirectional(net_, net_.parameters(), visible(), tests, options, watcher);
    return judge_by_importance(net_, net_.parameters(), visible(), tests, options, watcher);
  }
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override {
    return old.log_likelihood && old.log_likelihood->chains == options.importance &&
           is_bidirectional(*old.log_likelihood) == (options.method == "bihm");
  }

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override {
    const Dream dream = net_.dream(net_.parameters(), request.count, Key(request.seed));
    return on_cpu(request.means ? dream.means : dream.visible);
  }
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }

  // Encoder: means of latent layers, each given the means below.
  [[nodiscard]] std::vector<std::string> code_layers() const override {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < net_.structure().latent.size(); ++i) names.push_back(format("latent{}", i + 1));
    return names;
  }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override {
    return on_cpu(net_.encode(rows.to(device()), layer));
  }
  [[nodiscard]] bool reconstructs() const override { return false; }

  SigmoidBeliefNet net_;
};

std::vector<std::int64_t> latent_widths(const RunConfig& config) {
  const std::string& text = config.own.as<SbnOptions>().latent;
  try {
    const std::vector<std::int64_t> widths = layer_widths(text);
    require(!widths.empty(), "at least one layer is needed");
    return widths;
  } catch (const Error&) {
    fail("@latent {}: give the numbers of latent variables in each layer from the data up, such as 200,200", text);
  }
}

std::vector<std::int64_t> between_widths(const RunConfig& config) {
  return config.layers == "none" ? std::vector<std::int64_t>{} : layer_widths(config.layers);
}

SigmoidBeliefNetStructure structure_of(const RunConfig& config) {
  return {.visible = autoregressive_visible(config.visible, "a sigmoid belief net"),
          .latent = latent_widths(config),
          .between = between_widths(config),
          .activation = parse_activation(config.activation)};
}

// The objective with its baseline, for a net whose layers have these widths below them.
LatentObjective objective_of(const RunConfig& config, const std::vector<std::int64_t>& widths_below) {
  const auto& own = config.own.as<SbnOptions>();
  SignalOptions signals{.baseline = own.baseline, .normalize = own.normalize};
  if (between_widths(config).empty()) signals.recognition = SigmoidBeliefNet::affine_recognition(widths_below.size());
  return {own.objective, widths_below, signals};
}

// For those who only ask about the objective, whose nets are never made.
std::vector<std::int64_t> layers_of_width_one(const RunConfig& config) {
  return std::vector<std::int64_t>(latent_widths(config).size(), 1);
}

void resolve(RunConfig& config, RunData&) {
  (void)latent_widths(config);
  (void)between_widths(config);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: layers between may be tanh, relu, elu, logistic or linear");
  (void)autoregressive_visible(config.visible, "a sigmoid belief net");
  auto& own = config.own.as<SbnOptions>();
  own.objective = objective_of(config, layers_of_width_one(config)).spec();
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  SigmoidBeliefNet net(structure_of(config));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<SbnModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const SbnModel&>(start);
  const SigmoidBeliefNet net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  const auto climbed = std::make_shared<LatentObjective>(objective_of(config, net.widths_below()));
  Moments trained = net.parameters();
  climbed->declare(trained, Key(config.seed).fold_in(run_streams::initial).fold_in(1));
  const std::vector<ParameterGroup> groups = groups_by_name(trained);
  auto objective = std::make_unique<SurrogateAscent>(
      std::move(trained), groups, "log_likelihood",
      [net, climbed](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const LatentObjective::Surrogate found = climbed->estimate(net, leaves, batch.front(), step.key);
        return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
      },
      SurrogateAscent::Kept{.state = [climbed] { return climbed->state(); },
                            .restore = [climbed](const NamedTensors& saved) { climbed->restore(saved); }});
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  return train_by_likelihood(std::move(objective), config, data,
                             {.mean =
                                  [net, watched](const Moments& parameters, const at::Tensor& rows) {
                                    constexpr std::int64_t draws = 20;
                                    const at::Tensor placed = rows.to(parameters.entries().front().second.device());
                                    return importance_bound(net, parameters, placed, draws, watched).mean.value;
                                  },
                              .model = [net, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
                                return std::make_unique<SbnModel>(info, net.with_parameters(parameters));
                              }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "sbn", where, [&](const nlohmann::json& shape) {
    SigmoidBeliefNetStructure structure{.visible = shape.at("visible"),
                                        .latent = whole_numbers(shape.at("latent")),
                                        .between = whole_numbers(shape.at("between")),
                                        .activation = parse_activation(shape.at("activation"))};
    // A damaged number must not ask for memory.
    constexpr std::int64_t most_units = 1 << 20;
    constexpr std::size_t most_layers = 1000;
    require(structure.latent.size() <= most_layers && structure.between.size() <= most_layers,
            "{}: a sigmoid belief net of more than {} layers; the file is damaged", where, most_layers);
    double numbers = 0;  // at least: down and up
    std::int64_t below = make_distribution(structure.visible)->width();
    const auto next = [&](std::int64_t width) {
      require(width >= 1 && width <= most_units, "{}: a layer of {} units is no layer of a sigmoid belief net", where,
              width);
      numbers += 2 * static_cast<double>(below) * static_cast<double>(width);
      below = width;
    };
    for (const std::int64_t width : structure.latent) {
      for (const std::int64_t each : structure.between) next(each);
      next(width);
    }
    require_numbers(file, numbers, where);
    SigmoidBeliefNet net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<SbnModel>(info_of(header, width), std::move(net));
  });
}

// Recognition and generation, which are as large.
ModelSize size_of(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const std::int64_t width : latent_widths(config)) {
    for (const std::int64_t each : between_widths(config)) widths.push_back(static_cast<double>(each));
    widths.push_back(static_cast<double>(width));
  }
  const ModelSize half = size_of_chain(widths);
  return {.weights = 2 * half.weights, .units = 2 * half.units};
}

}  // namespace

Family sbn_family() {
  namespace groups = option_groups;
  return {.name = "sbn",
          .title = "Sigmoid belief net",
          .help = "sigmoid belief net with learned inference; its likelihood is bounded by importance sampling",
          .example = "harmonium train --data digits --model sbn --latent 50,20 --objective vimco:5 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"layers", "activation", "patience"}}),
          .own = OwnOptions(SbnOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                const LatentObjective climbed = objective_of(config, layers_of_width_one(config));
                return 3 * static_cast<double>(config.batch * climbed.draws()) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<SbnOptions>();
                std::string text = config.visible;
                for (const std::string& each : split_layers(own.latent)) text += " – " + each;
                return text + ", " + own.objective;
              },
          .keeps_best = true};
}

}  // namespace harmonium
