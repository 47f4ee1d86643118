// The family orderless_nade (models/autoregressive/orderless_nade.h): deep NADE for any order.
#include "harmonium/models/autoregressive/orderless_nade.h"

#include <c10/core/GradMode.h>
#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/autoregressive_family.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/autoregressive/causality.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_orders = 1'000'000, most_refinements = 1000;

struct OrderlessOptions {
  std::int64_t orders = 8, refinements = 1, components = 1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("orders", self.orders,
            "orders of the ensemble that is judged and sampled; `evaluate --orders` takes another number");
    visitor("refinements", self.refinements,
            "NADE-k: passes in which the net is given its own means for what it is not shown; each costs one more");
    visitor("components", self.components, "gaussian units: components of the mixture that every value is drawn from");
  }
};

class OrderlessModel final : public ExactModel {
 public:
  OrderlessModel(ModelInfo info, OrderlessNade net)
      : ExactModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const OrderlessNade& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "Orderless NADE"; }
  [[nodiscard]] std::string subtitle() const override {
    std::string text = net_.structure().visible;
    for (const std::int64_t width : net_.structure().hidden) text += format(" – {}", width);
    if (net_.structure().refinements > 1) text += format(", {} refinements", net_.structure().refinements);
    return text + format(", ensemble of {} orders", net_.structure().orders);
  }
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    const OrderlessNadeStructure& shape = net_.structure();
    std::vector<LayerText> texts = {{.name = "visible", .unit = shape.visible, .observed = true}};
    for (std::size_t i = 0; i < shape.hidden.size(); ++i)
      texts.push_back(
          {.name = format("layer{}", i + 1), .unit = format("{}:{}", to_string(shape.activation), shape.hidden[i])});
    return texts;
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<OrderlessModel>(info_, net_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<OrderlessModel>(info_, net_); }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    std::vector<Exhibit> all = {
        sample_exhibit([&](const Key& key, std::int64_t count) { return net_.sample(key, count); },
                       "Independent draws along random orders: the mean of every pixel given those drawn before it.")};
    add_completions(
        all, [&](const Key& key, const at::Tensor& known) { return net_.complete(key, known); }, input.train, *this);
    return all;
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    const OrderlessNadeStructure& shape = net_.structure();
    return {{"orderless_nade",
             {{"visible", shape.visible},
              {"hidden", shape.hidden},
              {"activation", to_string(shape.activation)},
              {"refinements", shape.refinements},
              {"orders", shape.orders},
              {"seed", shape.seed}}}};
  }
  [[nodiscard]] std::int64_t orders_of(const EstimationOptions& options) const {
    return options.orders > 0 ? options.orders : net_.structure().orders;
  }
  [[nodiscard]] bool takes_orders() const override { return true; }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions& options,
                                                Watcher& watcher) const override {
    return net_.log_probabilities(rows, options.orders, watcher.begin(format("{} orders", orders_of(options))));
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions& options) const override {
    return format("exact: the ensemble of {} orders, each the product of its conditionals", orders_of(options));
  }
  void verify() const override {
    const at::Tensor order = net_.order(0);
    const std::vector<std::int64_t> in_order(order.data_ptr<std::int64_t>(),
                                             order.data_ptr<std::int64_t>() + order.numel());
    require_causal(
        net_.visible(), in_order, [&](const at::Tensor& rows) { return net_.ordered_raw(rows, order); },
        net_.parameters()["output.bias"].options(), Key(0));
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override { return drawn_rows(net_, request); }
  [[nodiscard]] std::string method() const override { return "ancestral sampling along random orders, exact"; }
  [[nodiscard]] bool completes() const override { return true; }

  OrderlessNade net_;
};

std::string visible_of(const RunConfig& config) {
  const std::int64_t components = config.own.as<OrderlessOptions>().components;
  const std::string one = autoregressive_visible(config.visible, "an orderless NADE");
  if (components == 1) return one;
  require(components >= 1 && components <= 1000, "@components {}: give a number from 1 to 1000", components);
  const auto unit = make_unit(config.visible);
  require(unit->support() == Unit::Support::reals, "@components {} is for @visible gaussian, not {}", components,
          config.visible);
  return format("gaussian_mixture:{}x{}", unit->width(), components);
}

void resolve(RunConfig& config, RunData&) {
  (void)visible_of(config);
  const auto& own = config.own.as<OrderlessOptions>();
  require(own.orders >= 1 && own.orders <= most_orders, "@orders {}: give a number from 1 to {}", own.orders,
          most_orders);
  require(own.refinements >= 1 && own.refinements <= most_refinements, "@refinements {}: give a number from 1 to {}",
          own.refinements, most_refinements);
  if (config.layers == "none") config.layers = "500,500";
  (void)layer_widths(config.layers);
  if (config.activation == "auto") config.activation = "relu";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, relu, elu, softplus, logistic or linear");
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  OrderlessNade net({.visible = visible_of(config),
                     .hidden = layer_widths(config.layers),
                     .activation = parse_activation(config.activation),
                     .refinements = config.own.as<OrderlessOptions>().refinements,
                     .orders = config.own.as<OrderlessOptions>().orders,
                     .seed = config.seed});
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<OrderlessModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const OrderlessModel&>(start);
  const OrderlessNade net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  auto objective = std::make_unique<SurrogateAscent>(
      net.parameters(), groups_by_name(net.parameters()), "log_likelihood",
      [net](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const at::Tensor& rows = batch.front();
        const at::Tensor shown = net.draw_shown(step.key, rows.size(0), 1, rows.options());
        const at::Tensor mean = net.log_prob_estimate(leaves, rows, shown).mean();
        return SurrogateAscent::Value{.climbed = mean, .shown = mean};
      });
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  return train_by_likelihood(
      std::move(objective), config, data,
      {.mean =
           [net, watched, shown = std::make_shared<at::Tensor>()](const Moments& parameters, const at::Tensor& rows) {
             // The mean over orders by the same sets at every look, of all sizes: a walk along an order costs as many
             // passes as there are variables.
             constexpr std::int64_t sets = 20;
             const c10::NoGradGuard no_gradients;
             const at::Tensor placed = rows.to(parameters.entries().front().second.options());
             if (!shown->defined())
               *shown = net.draw_shown(watched, placed.size(0), sets, placed.options())
                            .to(at::kBool)
                            .reshape({placed.size(0), sets, -1});
             double sum = 0;
             for (std::int64_t set = 0; set < sets; ++set)
               sum += net.log_prob_estimate(parameters, placed, shown->select(1, set).to(placed.scalar_type()))
                          .mean()
                          .item<double>();
             return sum / static_cast<double>(sets);
           },
       .model = [net, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
         return std::make_unique<OrderlessModel>(info, net.with_parameters(parameters));
       }});
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "orderless_nade", where, [&](const nlohmann::json& shape) {
    OrderlessNadeStructure structure{
        .visible = shape.at("visible"),
        .hidden = whole_numbers(shape.at("hidden")),
        .activation = parse_activation(shape.at("activation")),
        // Older files have none.
        .refinements = shape.contains("refinements") ? whole_number(shape.at("refinements")) : 1,
        .orders = whole_number(shape.at("orders")),
        .seed = whole_number<std::uint64_t>(shape.at("seed"))};
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    require(structure.orders >= 1 && structure.orders <= most_orders && structure.refinements >= 1 &&
                structure.refinements <= most_refinements,
            "{}: {} orders, {} refinements; the file is damaged", where, structure.orders, structure.refinements);
    std::vector<std::int64_t> widths = {make_distribution(structure.visible)->width()};
    widths.insert(widths.end(), structure.hidden.begin(), structure.hidden.end());
    double numbers = 0;  // at least
    for (std::size_t i = 0; i < widths.size(); ++i) {
      require(widths[i] >= 1 && widths[i] <= most_units, "{}: a layer of {} units is no layer of an orderless NADE",
              where, widths[i]);
      if (i > 0) numbers += static_cast<double>(widths[i]) * static_cast<double>(widths[i - 1]);
    }
    require_numbers(file, numbers, where);
    OrderlessNade net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<OrderlessModel>(info_of(header, width), std::move(net));
  });
}

ModelSize size_of(const RunConfig& config) {
  const auto width = static_cast<double>(make_unit(config.visible)->width());
  std::vector<double> widths = {2 * width};  // values, and which of them are shown
  for (const std::int64_t each : layer_widths(config.layers)) widths.push_back(static_cast<double>(each));
  widths.push_back(width);
  return size_of_chain(widths);
}

}  // namespace

Family orderless_nade_family() {
  namespace groups = option_groups;
  return {.name = "orderless_nade",
          .title = "Orderless NADE",
          .help = "deep NADE for any order: exact log-likelihood by an ensemble of orders, completions of any pixels",
          .example = "harmonium train --data digits --model orderless_nade --layers 200,200 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"layers", "activation", "patience"}}),
          .own = OwnOptions(OrderlessOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                return 3 * static_cast<double>(config.batch * config.own.as<OrderlessOptions>().refinements) *
                       size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                std::string text = config.visible;
                for (const std::string& each : split_layers(config.layers)) text += " – " + each;
                return text + format(", any order, {} judged", config.own.as<OrderlessOptions>().orders);
              },
          .keeps_best = true};
}

}  // namespace harmonium
