// The family rnade (models/autoregressive/rnade.h): an autoregressive density of real values, exact.
#include "harmonium/models/autoregressive/rnade.h"

#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/data/standardize.h"
#include "harmonium/families/autoregressive_family.h"
#include "harmonium/families/hidden_units.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/models/autoregressive/causality.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_orders = 10'000, most_components = 1000;

struct RnadeOptions {
  std::int64_t components = 10, orders = 1;
  std::string kernel = "gaussian", order = "auto", columns = "check";
  double input_noise = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("components", self.components, "components of the mixture that every value is drawn from");
    visitor("kernel", self.kernel, "distribution of a component: gaussian, laplace");
    visitor("orders", self.orders,
            "nets, each with an order and weights of its own; the model is the mean of their p(x)");
    visitor("order", self.order, "order of the inputs: raster, random:SEED; auto: raster, with several orders random");
    visitor("input_noise", self.input_noise,
            "standard deviation of noise on the values that a conditional looks at during training, in the units that "
            "the net sees");
    visitor("columns", self.columns,
            "check: refuse columns of few different values and pairs that are nearly the same, whose density has no "
            "upper limit; any: take them");
  }
};

class RnadeModel final : public ExactModel {
 public:
  RnadeModel(ModelInfo info, Rnade net)
      : ExactModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const Rnade& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "RNADE"; }
  [[nodiscard]] std::string subtitle() const override {
    const RnadeStructure& shape = net_.structure();
    return format("{} inputs – {} hidden units – {} {} components, {}", shape.inputs, shape.hidden, shape.components,
                  shape.kernel,
                  shape.orders == 1 ? "order " + shape.order : format("{} orders from {}", shape.orders, shape.order));
  }
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::pair<double, double> shown_range() const override {
    const RnadeStructure& shape = net_.structure();
    if (!shape.deviations.empty())
      return range_of_values(at::tensor(shape.means, at::kDouble), at::tensor(shape.deviations, at::kDouble));
    // Of the data nothing is known but by the model's draws.
    const at::Tensor drawn = on_cpu(net_.sample(Key(1), 100).values).to(at::kDouble);
    return range_of_values(drawn.mean(0), drawn.std(0, /*unbiased=*/false));
  }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    return {{.name = "visible", .unit = visible().spec(), .observed = true},
            {.name = "hidden", .unit = format("relu:{}", net_.structure().hidden)}};
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<RnadeModel>(info_, net_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<RnadeModel>(info_, net_); }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput&) const override {
    if (!info_.image) return {};
    return {sample_exhibit([&](const Key& key, std::int64_t count) { return net_.sample(key, count); },
                           "Independent draws: the mean of every pixel given those drawn before it.")};
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    const RnadeStructure& shape = net_.structure();
    return {{"rnade",
             {{"inputs", shape.inputs},
              {"hidden", shape.hidden},
              {"components", shape.components},
              {"kernel", shape.kernel},
              {"orders", shape.orders},
              {"order", shape.order},
              {"means", shape.means},
              {"deviations", shape.deviations}}}};
  }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions&,
                                                Watcher&) const override {
    return net_.log_probabilities(rows);
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions&) const override {
    const RnadeStructure& shape = net_.structure();
    std::string text = shape.orders == 1
                           ? std::string("exact: the product of its conditionals")
                           : format("exact: the mean of {} nets, each the product of its conditionals", shape.orders);
    text += "; a density in the units of the data";
    if (shape.deviations.empty()) return text;
    return text + format(" (for that of standardized columns add {:.6f})", net_.log_volume());
  }
  void verify() const override {
    for (std::int64_t number = 0; number < net_.structure().orders; ++number)
      require_causal(
          net_.visible(), net_.order(number), [&](const at::Tensor& rows) { return net_.raw(rows, number); },
          net_.parameters()["output.bias"].options(), Key(0).fold_in(static_cast<std::uint64_t>(number)));
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override { return drawn_rows(net_, request); }
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  [[nodiscard]] bool completes() const override { return true; }

  Rnade net_;
};

void resolve(RunConfig& config, RunData&) {
  require(make_unit(config.visible)->support() == Unit::Support::reals,
          "@visible {}: an RNADE models real values (@visible gaussian); for others take nade or made", config.visible);
  auto& own = config.own.as<RnadeOptions>();
  require(own.components >= 1 && own.components <= most_components, "@components {}: give a number from 1 to {}",
          own.components, most_components);
  require(own.orders >= 1 && own.orders <= most_orders, "@orders {}: give a number from 1 to {}", own.orders,
          most_orders);
  require(own.kernel == "gaussian" || own.kernel == "laplace", "@kernel {}: there are gaussian and laplace",
          own.kernel);
  require(own.columns == "check" || own.columns == "any", "@columns {}: there are check and any", own.columns);
  require(own.input_noise >= 0 && std::isfinite(own.input_noise),
          "@input_noise must be a number that is not negative, not {}", own.input_noise);
  require(config.dropout >= 0 && config.dropout < 1, "@dropout must be at least 0 and below 1, not {}", config.dropout);
  require(own.orders == 1 || own.order != "raster", "@orders {}: several orders cannot all be raster; leave @order out",
          own.orders);
  own.order = resolved_order(own.order, own.orders, config.seed, make_unit(config.visible)->width());
  (void)hidden_units(config);
  resolve_likelihood(config, 0.002);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  const auto& own = config.own.as<RnadeOptions>();
  const Dataset learnt = with_noise(data.train, data.binarization, noise_key(config));
  const at::Tensor rows = learnt.first(20'000).to_float();
  if (own.columns == "check") {
    const std::string complaint = complaint_about_columns(rows);
    require(complaint.empty(),
            "{}: {}, so the density has no upper limit there and the likelihood means little. Leave such columns out, "
            "or add noise to them (@dequantize, for whole numbers); @columns any takes them as they are",
            data.train.name, complaint);
  }
  RnadeStructure structure{.inputs = data.train.columns(),
                           .hidden = hidden_units(config),
                           .components = own.components,
                           .kernel = own.kernel,
                           .orders = own.orders,
                           .order = own.order,
                           .means = {},
                           .deviations = {}};
  if (config.scale == "standardize") {
    const Standardization by = standardization_of(learnt);
    const auto numbers = [](const at::Tensor& values) {
      return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
    };
    structure.means = numbers(by.mean.contiguous());
    structure.deviations = numbers(by.deviation.contiguous());
  }
  Rnade net(std::move(structure));
  const at::Tensor means = rows.mean(0);
  initialize(net, Key(config.seed).fold_in(run_streams::initial), means, (rows - means).square().mean(0).sqrt());
  return std::make_unique<RnadeModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  return train_exact_net<RnadeModel>(
      config, data, start,
      [noise = config.own.as<RnadeOptions>().input_noise, dropout = config.dropout](
          const Rnade& net, const Moments& leaves, const at::Tensor& rows, const Step& step) {
        // The sum over nets, so that each learns as if it were alone.
        const at::Tensor of_nets =
            net.log_prob(leaves, rows, net.draw_noise(step.key, rows.size(0), noise, dropout)).mean(1);
        return SurrogateAscent::Value{.climbed = of_nets.sum(), .shown = of_nets.mean()};
      });
}

double weights_of(double inputs, double hidden, double components, double orders) {
  return orders * inputs * hidden * (1 + 3 * components);
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "rnade", where, [&](const nlohmann::json& shape) {
    RnadeStructure structure{.inputs = whole_number(shape.at("inputs")),
                             .hidden = whole_number(shape.at("hidden")),
                             .components = whole_number(shape.at("components")),
                             .kernel = shape.at("kernel"),
                             .orders = whole_number(shape.at("orders")),
                             .order = shape.at("order"),
                             .means = shape.at("means").get<std::vector<double>>(),
                             .deviations = shape.at("deviations").get<std::vector<double>>()};
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    require(structure.inputs >= 1 && structure.inputs <= most_units && structure.hidden >= 1 &&
                structure.hidden <= most_units && structure.components >= 1 &&
                structure.components <= most_components && structure.orders >= 1 && structure.orders <= most_orders,
            "{}: {} inputs, {} hidden units, {} components and {} orders make no RNADE", where, structure.inputs,
            structure.hidden, structure.components, structure.orders);
    require_numbers(file,
                    weights_of(static_cast<double>(structure.inputs), static_cast<double>(structure.hidden),
                               static_cast<double>(structure.components), static_cast<double>(structure.orders)),
                    where);
    Rnade net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.structure().inputs;
    return std::make_unique<RnadeModel>(info_of(header, width), std::move(net));
  });
}

ModelSize size_of(const RunConfig& config) {
  const auto& own = config.own.as<RnadeOptions>();
  const auto inputs = static_cast<double>(make_unit(config.visible)->width()),
             hidden = static_cast<double>(hidden_units(config)), orders = static_cast<double>(own.orders);
  return {.weights = weights_of(inputs, hidden, static_cast<double>(own.components), orders),
          .units = inputs * (1 + hidden * orders)};
}

}  // namespace

Family rnade_family() {
  namespace groups = option_groups;
  return {.name = "rnade",
          .title = "RNADE",
          .help = "real-valued NADE: exact log-likelihood, each value a mixture given those before it",
          .example = "harmonium train --data digits --model rnade --hidden 50 --columns any --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"hidden", "dropout", "patience"}}),
          .own = OwnOptions(RnadeOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) { return 3 * static_cast<double>(config.batch) * size_of(config).weights; },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<RnadeOptions>();
                return format("{} – {}, {} {} components, {} order{}", config.visible, config.hidden, own.components,
                              own.kernel, own.orders, own.orders == 1 ? "" : "s");
              },
          .standardizes = true,
          .dequantizes = true,
          .real_values = true,
          .keeps_best = true};
}

}  // namespace harmonium
