// The family nade (models/autoregressive/nade.h): an autoregressive model with an exact log-likelihood.
#include "harmonium/models/autoregressive/nade.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/distributions/bernoulli.h"
#include "harmonium/families/autoregressive_family.h"
#include "harmonium/families/hidden_units.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/autoregressive/causality.h"
#include "harmonium/training/objectives/ascent.h"

namespace harmonium {

namespace {

struct NadeOptions {
  std::string order = "raster";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("order", self.order, "order of the inputs: raster, or random:SEED");
  }
};

class NadeModel final : public ExactModel {
 public:
  NadeModel(ModelInfo info, Nade nade)
      : ExactModel(std::move(info), format("bernoulli:{}", nade.inputs())), nade_(std::move(nade)) {}

  [[nodiscard]] const Nade& nade() const { return nade_; }
  [[nodiscard]] std::string title() const override { return "NADE"; }
  [[nodiscard]] std::string subtitle() const override {
    return format("{} inputs – {} hidden units", nade_.inputs(), nade_.hidden());
  }
  [[nodiscard]] Moments parameters() const override { return nade_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    return {{.name = "visible", .unit = visible().spec(), .observed = true},
            {.name = "hidden", .unit = format("logistic:{}", nade_.hidden())}};
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<NadeModel>(info_, nade_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<NadeModel>(info_, nade_); }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    constexpr std::int64_t filters = 96;
    const at::Tensor columns = on_cpu(nade_.parameters()["encoder.weights"]).t();
    const at::Tensor order = columns.norm(2, 1).argsort(0, /*descending=*/true);
    std::vector<Exhibit> all = {
        {.id = "filters",
         .title = "Filters",
         .caption = format("Input weights of {} of {} hidden units, largest first. Red adds, blue takes away; each "
                           "on its own scale.",
                           std::min(filters, columns.size(0)), columns.size(0)),
         .rows = columns.index_select(0, order.narrow(0, 0, std::min(filters, columns.size(0)))),
         .weights = true,
         .columns = 12},
        sample_exhibit(
            [&](const Key& key, std::int64_t count) {
              const at::Tensor drawn = nade_.sample(key, count);
              return OrderedDraw{.values = drawn, .means = nade_.conditional_means(drawn)};
            },
            "Independent draws: the probability of every pixel given those drawn before it.")};
    add_nats(
        all,
        [&](const at::Tensor& rows) {
          const at::Tensor p = on_cpu(nade_.conditional_means(rows)).clamp(1e-7, 1 - 1e-7);
          return rows * p.log() + (1 - rows) * at::log1p(-p);
        },
        input.train, *this);
    return all;
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    return {{"nade", {{"inputs", nade_.inputs()}, {"hidden", nade_.hidden()}, {"order", nade_.order()}}}};
  }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions&,
                                                Watcher&) const override {
    return nade_.log_probabilities(rows);
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions&) const override {
    return "exact: the product of its conditionals";
  }

  void verify() const override {
    const BernoulliDistribution visible_bits(nade_.inputs());
    require_causal(
        visible_bits, nade_.order(), [&](const at::Tensor& rows) { return nade_.conditional_means(rows); },
        nade_.parameters()["hidden.bias"].options(), Key(0));
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override {
    at::Tensor drawn;
    if (request.known.defined()) {
      const at::Tensor free = request.known.isnan();
      require(free.eq(free.narrow(0, 0, 1)).all().item<bool>(),
              "rows to complete must have the same known columns, since the order of a NADE is fixed; complete them "
              "one by one, or train an orderless_nade");
      drawn = nade_.sample_given(Key(request.seed), at::nan_to_num(request.known), free[0].logical_not());
    } else {
      drawn = nade_.sample(Key(request.seed), request.count);
    }
    return on_cpu(request.means ? nade_.conditional_means(drawn) : drawn);
  }
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  [[nodiscard]] bool completes() const override { return true; }

  Nade nade_;
};

std::vector<ParameterGroup> groups_of(const Nade&) {
  return {{.names = {"encoder.weights", "decoder.weights"}, .kind = ParameterKind::weights},
          {.names = {"hidden.bias", "output.bias"}, .kind = ParameterKind::bias}};
}

void resolve(RunConfig& config, RunData&) {
  require(make_unit(config.visible)->support() == Unit::Support::bits, "@visible {}: a NADE models binary data",
          config.visible);
  (void)hidden_units(config);
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  const std::int64_t inputs = data.train.columns();
  Nade nade(inputs, hidden_units(config), parse_order(config.own.as<NadeOptions>().order, inputs));
  check_rows(data, *make_unit(config.visible));
  initialize(nade, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<NadeModel>(initial_info(config, data), std::move(nade));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const NadeModel&>(start);
  const Nade nade = begun.nade().to(at::TensorOptions().device(find_device(config.device)));
  auto objective = std::make_unique<Ascent>(
      nade.parameters(), groups_of(nade), "log_likelihood", [nade](const std::vector<at::Tensor>& batch, const Key&) {
        LogLikelihoodGradient found = nade.log_likelihood_gradient(batch.front());
        return Ascent::Climb{.value = found.log_likelihood, .gradient = std::move(found.gradient)};
      });
  return train_by_likelihood(
      std::move(objective), config, data,
      {.mean =
           [nade](const Moments& parameters, const at::Tensor& rows) {
             return nade.with_parameters(parameters).log_probabilities(rows).mean().item<double>();
           },
       .model = [nade, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<NadeModel>(info, nade.with_parameters(parameters));
       }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "nade", where, [&](const nlohmann::json& shape) {
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    const std::int64_t inputs = whole_number(shape.at("inputs")), hidden = whole_number(shape.at("hidden"));
    require(inputs >= 1 && hidden >= 1 && inputs <= most_units && hidden <= most_units &&
                inputs * hidden <= (std::int64_t{1} << 30),
            "{}: {} inputs and {} hidden units make no NADE", where, inputs, hidden);
    require_numbers(file, 2 * static_cast<double>(inputs) * static_cast<double>(hidden), where);
    Nade nade(inputs, hidden, whole_numbers(shape.at("order")));
    read_parameters(nade.parameters(), file, where);
    return std::make_unique<NadeModel>(info_of(header, inputs), std::move(nade));
  });
}

}  // namespace

Family nade_family() {
  namespace groups = option_groups;
  return {.name = "nade",
          .title = "NADE",
          .help = "neural autoregressive distribution estimator: exact log-likelihood, one pixel after the other",
          .example = "harmonium train --data digits --model nade --hidden 100 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"hidden", "patience"}}),
          .own = OwnOptions(NadeOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size =
              [](const RunConfig& config) {
                const ModelSize half = size_of_chain({static_cast<double>(make_unit(config.visible)->width()),
                                                      static_cast<double>(hidden_units(config))});
                return ModelSize{.weights = 2 * half.weights, .units = half.units};
              },
          .products =
              [](const RunConfig& config) {
                return 3.0 * static_cast<double>(config.batch * hidden_units(config)) *
                       static_cast<double>(make_unit(config.visible)->width());
              },
          .words =
              [](const RunConfig& config) {
                return format("{} – {}, order {}", config.visible, config.hidden, config.own.as<NadeOptions>().order);
              },
          .keeps_best = true};
}

}  // namespace harmonium
