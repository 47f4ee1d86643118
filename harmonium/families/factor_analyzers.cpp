// The family factor_analyzers (models/mixture/factor_analyzers.h): a mixture of factor analysers, an exact density of
// real values, trained by EM. Columns that never change are left out of the density; the others are standardized.
#include "harmonium/models/mixture/factor_analyzers.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/em_options.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

namespace {

struct AnalyzerOptions {
  std::int64_t components = 10, factors = 10;
  double smoothing = 0.1, noise = 1e-3;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("components", self.components, "number of components");
    visitor("factors", self.factors, "factors of each component (0: diagonal Gaussians); fewer than columns");
    visitor("smoothing", self.smoothing,
            "pseudo-rows that each component has seen beside the data, drawn from a Gaussian as wide as all data");
    visitor("noise", self.noise, "least variance of the noise, as a share of a column's variance");
  }
};

// Columns in units of their own: x = mean + deviation · y. Columns of deviation 0 never change and have no y.
struct ColumnUnits {
  at::Tensor mean, deviation, varying;  // N, N, numbers of columns; float64 and int64, on the CPU

  // Rounded to what a file holds, so that a model that was read gives the same answers.
  ColumnUnits(const at::Tensor& m, const at::Tensor& d)
      : mean(m.to(at::kFloat).to(at::kDouble)),
        deviation(d.to(at::kFloat).to(at::kDouble)),
        varying(deviation.gt(0).nonzero().squeeze(1)) {}

  [[nodiscard]] at::Tensor standardized(const at::Tensor& rows) const {
    const auto of = [&](const at::Tensor& x) { return x.index_select(0, varying).to(rows.device()); };
    return (rows.to(at::kDouble).index_select(1, varying.to(rows.device())) - of(mean)) / of(deviation);
  }
  [[nodiscard]] at::Tensor restored(const at::Tensor& y) const {
    at::Tensor rows = mean.expand({y.size(0), mean.size(0)}).clone();
    rows.index_add_(1, varying, on_cpu(y) * deviation.index_select(0, varying));
    return rows;
  }
  [[nodiscard]] double log_volume() const { return deviation.index_select(0, varying).log().sum().item<double>(); }
  [[nodiscard]] std::int64_t constant() const { return mean.size(0) - varying.size(0); }
};

ColumnUnits units_of(const Dataset& data) {
  constexpr std::int64_t at_once = 2048;
  constexpr double nothing = 1e-6;  // beside the mean: what float32 keeps of a column that never changes
  const at::Tensor mean = data.column_means();
  at::Tensor squares = at::zeros_like(mean);
  for (std::int64_t first = 0; first < data.rows(); first += at_once)
    squares +=
        (data.slice(first, std::min(first + at_once, data.rows())).to_float().to(at::kDouble) - mean).square().sum(0);
  const at::Tensor deviation = (squares / static_cast<double>(data.rows())).sqrt();
  return {mean, at::where(deviation.gt(nothing * mean.abs()), deviation, at::zeros_like(deviation))};
}

class AnalyzerModel final : public ExactModel, private Encoder, private Clusters {
 public:
  AnalyzerModel(ModelInfo info, FactorAnalyzers mixture, ColumnUnits units)
      : ExactModel(std::move(info), format("gaussian:{}", units.mean.size(0))),
        mixture_(std::move(mixture)),
        units_(std::move(units)) {}

  [[nodiscard]] const FactorAnalyzers& mixture() const { return mixture_; }
  [[nodiscard]] const ColumnUnits& units() const { return units_; }
  [[nodiscard]] std::string title() const override { return "Mixture of factor analysers"; }
  [[nodiscard]] std::string subtitle() const override {
    return format("{} inputs – {} components of {} factors", visible().width(), mixture_.count(), mixture_.factors());
  }
  // With the units of the columns, which are part of the file.
  [[nodiscard]] Moments parameters() const override {
    Moments all = mixture_.parameters();
    all.insert("input.mean", units_.mean.to(at::kFloat));
    all.insert("input.deviation", units_.deviation.to(at::kFloat));
    return all;
  }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    return {{.name = "visible", .unit = visible().spec(), .observed = true},
            {.name = "component", .unit = format("softmax:1x{}", mixture_.count())},
            {.name = "factors", .unit = format("gaussian:{}", mixture_.factors())}};
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<AnalyzerModel>(info_, mixture_.to(at::TensorOptions().device(device)), units_);
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override {
    return std::make_unique<AnalyzerModel>(info_, mixture_, units_);
  }
  [[nodiscard]] std::pair<double, double> shown_range() const override {
    return range_of_values(units_.mean, units_.deviation);
  }
  [[nodiscard]] const Encoder* encoder() const override { return this; }
  [[nodiscard]] const Clusters* clusters() const override { return this; }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput&) const override {
    constexpr std::int64_t most = 96, samples = 60;
    const FactorAnalyzers::Components all = mixture_.components();
    const at::Tensor shares = on_cpu(all.shares), order = shares.argsort(0, /*descending=*/true),
                     shown = order.narrow(0, 0, std::min(most, mixture_.count()));
    return {{.id = "components",
             .title = "Components",
             .caption = format("Means of {} of {} components, largest share first: from {:.3g} to {:.3g} of all rows.",
                               shown.size(0), mixture_.count(), shares[order[0]].item<double>(),
                               shares[shown[-1]].item<double>()),
             .rows = units_.restored(on_cpu(all.means).index_select(0, shown)).to(at::kFloat),
             .columns = 10},
            {.id = "samples",
             .title = "Samples",
             .caption = "Independent draws.",
             .rows = units_.restored(mixture_.sample(Key(1), samples).rows).to(at::kFloat),
             .samples = true}};
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    return {{"factor_analyzers",
             {{"inputs", visible().width()},
              {"varying", mixture_.inputs()},
              {"components", mixture_.count()},
              {"factors", mixture_.factors()},
              {"noise", mixture_.floor()}}}};
  }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions&,
                                                Watcher&) const override {
    return mixture_.log_probabilities(units_.standardized(rows)) - units_.log_volume();
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions&) const override {
    std::string text = format(
        "exact: the sum over components; a density in the units of the data (for that of "
        "standardized columns add {:.6f})",
        units_.log_volume());
    if (units_.constant() > 0)
      text += format("; {} columns that never changed in training are left out of it", units_.constant());
    return text;
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override {
    const FactorAnalyzers::Draws draws = mixture_.sample(Key(request.seed), request.count);
    return units_.restored(request.means ? draws.means : draws.rows).to(at::kFloat);
  }
  [[nodiscard]] std::string method() const override { return "a component, its factors, then noise: exact draws"; }

  // Encoder: how probable each component is.
  [[nodiscard]] std::vector<std::string> code_layers() const override { return {"component"}; }
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t) const override {
    return on_cpu(mixture_.responsibilities(units_.standardized(rows))).to(at::kFloat);
  }
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override {
    return units_.restored(mixture_.reconstruct(units_.standardized(rows))).to(at::kFloat);
  }

  // Clusters: components.
  [[nodiscard]] std::string group_name() const override { return "component"; }
  [[nodiscard]] std::int64_t groups() const override { return mixture_.count(); }
  [[nodiscard]] at::Tensor log_weights(const at::Tensor& rows) const override {
    return on_cpu(mixture_.log_joint(units_.standardized(rows)));
  }

  FactorAnalyzers mixture_;
  ColumnUnits units_;
};

void resolve(RunConfig& config, RunData& data) {
  auto& own = config.own.as<AnalyzerOptions>();
  require(make_unit(config.visible)->support() == Unit::Support::reals,
          "@visible {}: factor analysers model real values; use @visible gaussian", config.visible);
  require(own.factors >= 0, "@factors {}: give a number that is not negative", own.factors);
  own.factors = std::min(own.factors, std::max<std::int64_t>(0, data.train.columns() - 1));
  require(std::isfinite(own.noise) && own.noise > 0, "@noise must be positive, not {}", own.noise);
  resolve_em(config, data, own.components, own.smoothing);
}

// The rows that a mixture begins from; all where they are few.
constexpr std::int64_t rows_of_start = 10'000;

double smoothing_of(const RunConfig& config, const RunData& data) {
  return config.own.as<AnalyzerOptions>().smoothing / static_cast<double>(data.train.rows());
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const auto& own = config.own.as<AnalyzerOptions>();
  check_rows(data, *make_unit(config.visible));
  const Dataset learnt = with_noise(data.train, data.binarization, noise_key(config));
  ColumnUnits units = units_of(learnt);
  require(units.varying.size(0) > 0, "{}: no column ever changes, so there is nothing to model", data.train.name);
  FactorAnalyzers mixture(units.varying.size(0), own.components, own.factors, own.noise);
  initialize(mixture, Key(config.seed).fold_in(run_streams::initial),
             units.standardized(learnt.first(rows_of_start).to_float()), smoothing_of(config, data));
  ModelInfo info = initial_info(config, data);
  info.notes["optimizer"] = "online EM";
  return std::make_unique<AnalyzerModel>(std::move(info), std::move(mixture), std::move(units));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const AnalyzerModel&>(start);
  const FactorAnalyzers mixture = begun.mixture().to(at::TensorOptions().device(find_device(config.device)));
  const ColumnUnits& units = begun.units();
  const double volume = units.log_volume();
  auto objective = std::make_unique<Ascent>(mixture.parameters(), groups_of_em(mixture.parameters()), "log_likelihood",
                                            [mixture, units, volume, smoothing = smoothing_of(config, data)](
                                                const std::vector<at::Tensor>& batch, const Key&) {
                                              const ExpectedStatistics found = mixture.expected_statistics(
                                                  mixture.components(), units.standardized(batch.front()), smoothing);
                                              return Ascent::Climb{.value = found.log_likelihood - volume,
                                                                   .gradient = found.statistics - mixture.parameters()};
                                            });
  return train_by_likelihood(
      std::move(objective), config, data,
      {.mean =
           [mixture, units, volume](const Moments& parameters, const at::Tensor& rows) {
             const at::Tensor each = mixture.with_parameters(parameters).log_probabilities(units.standardized(rows));
             return each.mean().item<double>() - volume;
           },
       .model = [mixture, units, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<AnalyzerModel>(info, mixture.with_parameters(parameters), units);
       }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "factor_analyzers", where, [&](const nlohmann::json& shape) {
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    const std::int64_t inputs = whole_number(shape.at("inputs")), varying = whole_number(shape.at("varying")),
                       M = whole_number(shape.at("components")), q = whole_number(shape.at("factors"));
    const double floor = shape.at("noise");
    require(inputs >= 1 && varying >= 1 && varying <= inputs && M >= 1 && q >= 0 && q < most_units &&
                inputs <= most_units && M <= most_units && floor > 0,
            "{}: {} components of {} factors for {} inputs make no mixture of factor analysers", where, M, q, inputs);
    const auto codes = static_cast<double>(q + 1);
    require_numbers(file, static_cast<double>(M) * codes * (codes + static_cast<double>(varying)), where);
    FactorAnalyzers mixture(varying, M, q, floor);
    read_parameters(mixture.parameters(), file, where);
    const at::Tensor mean = at::zeros({inputs}), deviation = at::zeros({inputs});
    copy_parameter(mean, "input.mean", find_tensor(file.tensors, "input.mean", where), where);
    copy_parameter(deviation, "input.deviation", find_tensor(file.tensors, "input.deviation", where), where);
    ColumnUnits units(mean, deviation);
    require(mixture.in_domain() && units.varying.size(0) == varying && deviation.ge(0).all().item<bool>(),
            "{}: the statistics of the factor analysers are out of range; the file is damaged", where);
    return std::make_unique<AnalyzerModel>(info_of(header, inputs), std::move(mixture), std::move(units));
  });
}

double loadings_of(const RunConfig& config) {
  const auto& own = config.own.as<AnalyzerOptions>();
  return static_cast<double>(own.components * (own.factors + 2)) *
         static_cast<double>(make_unit(config.visible)->width());
}

}  // namespace

Family factor_analyzers_family() {
  return {
      .name = "factor_analyzers",
      .title = "Mixture of factor analysers",
      .help = "mixture of factor analysers for real values, trained by EM as mixture is: exact log-likelihood",
      .example = "harmonium train --data digits --model factor_analyzers --components 10 --factors 5 --updates 500",
      .options = options_of_em(),
      .own = OwnOptions(AnalyzerOptions{}),
      .resolve = resolve,
      .make = make,
      .train = train,
      .read = read,
      .size =
          [](const RunConfig& config) {
            return ModelSize{.weights = loadings_of(config), .units = static_cast<double>(config.batch)};
          },
      .products = [](const RunConfig& config) { return 4 * static_cast<double>(config.batch) * loadings_of(config); },
      .words =
          [](const RunConfig& config) {
            const auto& own = config.own.as<AnalyzerOptions>();
            return format("{} – {} components of {} factors; em", config.visible, own.components, own.factors);
          },
      .dequantizes = true,
      .real_values = true,
      .binarizes = false,
      .keeps_best = true};
}

}  // namespace harmonium
