// The family mixture (models/mixture/bernoulli_mixture.h): Bernoullis trained by online EM, with an exact
// log-likelihood.
#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/em_options.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/mixture/bernoulli_mixture.h"
#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

namespace {

struct MixtureOptions {
  std::int64_t components = 100;
  double smoothing = 0.1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("components", self.components, "number of components");
    visitor("smoothing", self.smoothing, "pseudo-rows that each component has seen beside the data, half of them lit");
  }
};

class MixtureModel final : public ExactModel, private Encoder, private Clusters {
 public:
  MixtureModel(ModelInfo info, BernoulliMixture mixture)
      : ExactModel(std::move(info), format("bernoulli:{}", mixture.inputs())), mixture_(std::move(mixture)) {}

  [[nodiscard]] const BernoulliMixture& mixture() const { return mixture_; }
  [[nodiscard]] std::string title() const override { return "Mixture of Bernoullis"; }
  [[nodiscard]] std::string subtitle() const override {
    return format("{} inputs – {} components", mixture_.inputs(), mixture_.components());
  }
  [[nodiscard]] Moments parameters() const override { return mixture_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    return {{.name = "visible", .unit = visible().spec(), .observed = true},
            {.name = "component", .unit = format("softmax:1x{}", mixture_.components())}};
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<MixtureModel>(info_, mixture_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    return std::make_unique<MixtureModel>(info_, mixture_);
  }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] const Clusters* clusters() const override { return this; }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput&) const override {
    constexpr std::int64_t most = 96, samples = 60;
    const at::Tensor shares = on_cpu(mixture_.shares()), order = shares.argsort(0, /*descending=*/true);
    const std::int64_t shown = std::min(most, mixture_.components());
    return {{.id = "components",
             .title = "Components",
             .caption = format("Means of {} of {} components, largest share first: from {:.3g} to {:.3g} of all rows.",
                               shown, mixture_.components(), shares[order[0]].item<double>(),
                               shares[order[shown - 1]].item<double>()),
             .rows = on_cpu(mixture_.means()).index_select(0, order.narrow(0, 0, shown)).to(at::kFloat),
             .columns = 12},
            {.id = "samples",
             .title = "Samples",
             .caption = "Independent draws.",
             .rows = on_cpu(mixture_.sample(Key(1), samples).rows).to(at::kFloat),
             .samples = true}};
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    return {{"mixture", {{"inputs", mixture_.inputs()}, {"components", mixture_.components()}}}};
  }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions&,
                                                Watcher&) const override {
    return mixture_.log_probabilities(rows);
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions&) const override {
    return "exact: the sum over components";
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override {
    const BernoulliMixture::Draws draws = mixture_.sample(Key(request.seed), request.count);
    return on_cpu(request.means ? draws.means : draws.rows);
  }
  [[nodiscard]] std::string method() const override { return "a component, then its pixels: exact draws"; }

  // Encoder: how probable each component is.
  [[nodiscard]] std::vector<std::string> code_layers() const override { return {"component"}; }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t) const override {
    return on_cpu(mixture_.responsibilities(rows)).to(at::kFloat);
  }
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override {
    return on_cpu(mixture_.reconstruct(rows)).to(at::kFloat);
  }

  // Clusters: components.
  [[nodiscard]] std::string group_name() const override { return "component"; }
  [[nodiscard]] std::int64_t groups() const override { return mixture_.components(); }
  [[nodiscard]] at::Tensor log_weights(const at::Tensor& rows) const override {
    return on_cpu(mixture_.log_joint(rows));
  }

  BernoulliMixture mixture_;
};

void resolve(RunConfig& config, RunData& data) {
  const auto& own = config.own.as<MixtureOptions>();
  require(make_unit(config.visible)->support() == Unit::Support::bits, "@visible {}: a mixture models binary data",
          config.visible);
  resolve_em(config, data, own.components, own.smoothing);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const std::int64_t components = config.own.as<MixtureOptions>().components;
  BernoulliMixture mixture(data.train.columns(), components);
  check_rows(data, *make_unit(config.visible));
  const Key key = Key(config.seed).fold_in(run_streams::initial);
  const at::Tensor order = permutation(key.fold_in(0), data.train.rows());
  const at::Tensor chosen = order.index_select(0, at::arange(components, at::kLong).remainder(data.train.rows()));
  initialize(mixture, key.fold_in(1), data.train.column_means(), data.train.gather(chosen));
  ModelInfo info = initial_info(config, data);
  info.notes["optimizer"] = "online EM";
  return std::make_unique<MixtureModel>(std::move(info), std::move(mixture));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const MixtureModel&>(start);
  const BernoulliMixture mixture = begun.mixture().to(at::TensorOptions().device(find_device(config.device)));
  const double smoothing = config.own.as<MixtureOptions>().smoothing / static_cast<double>(data.train.rows());
  auto objective = std::make_unique<Ascent>(
      mixture.parameters(), groups_of_em(mixture.parameters()), "log_likelihood",
      [mixture, smoothing](const std::vector<at::Tensor>& batch, const Key&) {
        const ExpectedStatistics found = mixture.expected_statistics(batch.front(), smoothing);
        return Ascent::Climb{.value = found.log_likelihood, .gradient = found.statistics - mixture.parameters()};
      });
  return train_by_likelihood(
      std::move(objective), config, data,
      {.mean =
           [mixture](const Moments& parameters, const at::Tensor& rows) {
             return mixture.with_parameters(parameters).log_probabilities(rows).mean().item<double>();
           },
       .model = [mixture, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<MixtureModel>(info, mixture.with_parameters(parameters));
       }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "mixture", where, [&](const nlohmann::json& shape) {
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    const std::int64_t inputs = whole_number(shape.at("inputs")), components = whole_number(shape.at("components"));
    require(inputs >= 1 && components >= 1 && inputs <= most_units && components <= most_units &&
                inputs * components <= (std::int64_t{1} << 30),
            "{}: {} inputs and {} components make no mixture", where, inputs, components);
    require_numbers(file, static_cast<double>(inputs) * static_cast<double>(components), where);
    BernoulliMixture mixture(inputs, components);
    read_parameters(mixture.parameters(), file, where);
    require(mixture.in_domain(), "{}: the shares and means of the mixture are out of range; the file is damaged",
            where);
    return std::make_unique<MixtureModel>(info_of(header, inputs), std::move(mixture));
  });
}

}  // namespace

Family mixture_family() {
  return {.name = "mixture",
          .title = "Mixture of Bernoullis",
          .help = "mixture of Bernoullis, trained by online EM (by EM where a batch is all rows): exact log-likelihood",
          .example = "harmonium train --data digits --model mixture --components 50 --updates 500",
          .options = options_of_em(),
          .own = OwnOptions(MixtureOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size =
              [](const RunConfig& config) {
                return size_of_chain({static_cast<double>(make_unit(config.visible)->width()),
                                      static_cast<double>(config.own.as<MixtureOptions>().components)});
              },
          .products =
              [](const RunConfig& config) {
                return 2.0 * static_cast<double>(config.batch * config.own.as<MixtureOptions>().components) *
                       static_cast<double>(make_unit(config.visible)->width());
              },
          .words =
              [](const RunConfig& config) {
                return format("{} – {} components; em", config.visible, config.own.as<MixtureOptions>().components);
              },
          .keeps_best = true};
}

}  // namespace harmonium
