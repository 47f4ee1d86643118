// The family pixel_net (models/autoregressive/pixel_net.h): causal convolutions with attention over binary pictures.
#include "harmonium/models/autoregressive/pixel_net.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/autoregressive_family.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/models/autoregressive/causality.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_channels = 4096, most_blocks = 1000, most_kernel = 99;

struct PixelNetOptions {
  std::int64_t channels = 0, blocks = 0, attention = 2, kernel = 3;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("channels", self.channels,
            "numbers at every pixel of each of the two streams (0: 64, for pictures below 400 pixels 32)");
    visitor("blocks", self.blocks, "gated residual blocks of each stream (0: 8, for pictures below 400 pixels 4)");
    visitor("attention", self.attention,
            "so many of the blocks, evenly spread, are followed by attention to all earlier pixels (0: none)");
    visitor("kernel", self.kernel, "pixels that a convolution is wide: an odd number from 3");
  }
};

class PixelNetModel final : public ExactModel {
 public:
  PixelNetModel(ModelInfo info, PixelNet net)
      : ExactModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

  [[nodiscard]] const PixelNet& net() const { return net_; }
  [[nodiscard]] std::string title() const override { return "Pixel net"; }
  [[nodiscard]] std::string subtitle() const override {
    const PixelNetStructure& shape = net_.structure();
    return format("{} × {} pixels – {} block{} of {} channels, {}", shape.height, shape.width, shape.blocks,
                  shape.blocks == 1 ? "" : "s", shape.channels,
                  shape.attention == 0 ? "no attention" : format("attention after {}", shape.attention));
  }
  [[nodiscard]] Moments parameters() const override { return net_.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override {
    const PixelNetStructure& shape = net_.structure();
    std::vector<LayerText> texts = {{.name = "visible", .unit = visible().spec(), .observed = true}};
    for (std::int64_t block = 1; block <= shape.blocks; ++block)
      texts.push_back({.name = format("block{}", block),
                       .unit = format("gated:{}x{}x{}", shape.channels, shape.height, shape.width)});
    return texts;
  }
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override {
    return std::make_unique<PixelNetModel>(info_, net_.to(at::TensorOptions().device(device)));
  }
  [[nodiscard]] std::unique_ptr<Model> clone() const override { return std::make_unique<PixelNetModel>(info_, net_); }

  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override {
    std::vector<Exhibit> all = {
        sample_exhibit([&](const Key& key, std::int64_t count) { return net_.sample(key, count); },
                       "Independent draws: the probability of every pixel given those drawn before it.")};
    add_completions(
        all, [&](const Key& key, const at::Tensor& known) { return net_.complete(key, known); }, input.train, *this);
    add_nats(
        all, [&](const at::Tensor& rows) { return net_.log_conditionals(rows); }, input.train, *this);
    return all;
  }

 private:
  [[nodiscard]] nlohmann::json structure() const override {
    const PixelNetStructure& shape = net_.structure();
    return {{"pixel_net",
             {{"height", shape.height},
              {"width", shape.width},
              {"channels", shape.channels},
              {"blocks", shape.blocks},
              {"attention", shape.attention},
              {"kernel", shape.kernel}}}};
  }
  [[nodiscard]] at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions&,
                                                Watcher& watcher) const override {
    return net_.log_probabilities(rows, watcher.begin("rows"));
  }
  [[nodiscard]] std::string exact_method(const EstimationOptions&) const override {
    return "exact: the product of its conditionals";
  }

  // On the CPU, where no convolution mixes the roundings of neighbouring pixels, as the transforms of Winograd and
  // Fourier do that a device may choose.
  void verify() const override {
    const PixelNet here = net_.to(at::TensorOptions().device(at::kCPU));
    require_causal(
        here.visible(), here.order(), [&](const at::Tensor& rows) { return here.raw(here.parameters(), rows); },
        here.parameters()["output.bias"].options(), Key(0));
  }

  [[nodiscard]] at::Tensor draw(const Request& request) const override { return drawn_rows(net_, request); }
  [[nodiscard]] std::string method() const override { return "ancestral sampling, exact"; }
  [[nodiscard]] bool completes() const override { return true; }

  PixelNet net_;
};

// Of a configuration that is resolved. The shape of the picture changes neither weights nor pixels.
PixelNetStructure structure_of(const RunConfig& config, const ImageShape& image) {
  const auto& own = config.own.as<PixelNetOptions>();
  return {.height = image.height,
          .width = image.width,
          .channels = own.channels,
          .blocks = own.blocks,
          .attention = own.attention,
          .kernel = own.kernel};
}

void resolve(RunConfig& config, RunData& data) {
  require(make_unit(config.visible)->support() == Unit::Support::bits,
          "@visible {}: a pixel net models binary pictures", config.visible);
  require(data.train.image.has_value(),
          "@data {}: a pixel net needs pictures, and nothing says that rows of {} values are any; give their shape by "
          "@shape HEIGHTxWIDTH, such as 28x28, or take made",
          config.data, data.train.columns());
  auto& own = config.own.as<PixelNetOptions>();
  constexpr std::int64_t small = 400;
  const bool is_small = data.train.columns() < small;
  if (own.channels == 0) own.channels = is_small ? 32 : 64;
  if (own.blocks == 0) own.blocks = is_small ? 4 : 8;
  require(own.channels >= 1 && own.channels <= most_channels, "@channels {}: give a number from 1 to {}", own.channels,
          most_channels);
  require(own.blocks >= 1 && own.blocks <= most_blocks, "@blocks {}: give a number from 1 to {}", own.blocks,
          most_blocks);
  require(own.attention >= 0 && own.attention <= own.blocks,
          "@attention {}: give a number of blocks from 0 to {}, which is @blocks", own.attention, own.blocks);
  require(own.kernel >= 3 && own.kernel <= most_kernel && own.kernel % 2 == 1,
          "@kernel {}: give an odd number from 3 to {}", own.kernel, most_kernel);
  require(config.dropout >= 0 && config.dropout < 1, "@dropout must be at least 0 and below 1, not {}", config.dropout);
  resolve_likelihood(config, 0.001);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  PixelNet net(structure_of(config, data.train.image.value()));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<PixelNetModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  return train_exact_net<PixelNetModel>(
      config, data, start,
      [dropout = config.dropout](const PixelNet& net, const Moments& leaves, const at::Tensor& rows, const Step& step) {
        const at::Tensor mean = net.log_prob(leaves, rows, dropout, step.key).mean();
        return SurrogateAscent::Value{.climbed = mean, .shown = mean};
      });
}

// Numbers of weights in the blocks and of places, at least.
double numbers_of(const PixelNetStructure& shape) {
  const auto channels = static_cast<double>(shape.channels), wide = static_cast<double>(shape.kernel),
             half = (wide + 1) / 2;
  return static_cast<double>(shape.blocks) * 3 * half * (wide + half) * channels * channels +
         2 * channels * static_cast<double>(shape.height) * static_cast<double>(shape.width);
}

std::unique_ptr<Model> read(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "pixel_net", where, [&](const nlohmann::json& shape) {
    const PixelNetStructure structure{.height = whole_number(shape.at("height")),
                                      .width = whole_number(shape.at("width")),
                                      .channels = whole_number(shape.at("channels")),
                                      .blocks = whole_number(shape.at("blocks")),
                                      .attention = whole_number(shape.at("attention")),
                                      .kernel = whole_number(shape.at("kernel"))};
    constexpr std::int64_t most_pixels = 1 << 20;  // a damaged number must not ask for memory
    const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return least <= value && value <= most;
    };
    require(within(structure.height, 1, most_pixels) && within(structure.width, 1, most_pixels) &&
                structure.height * structure.width <= most_pixels && within(structure.channels, 1, most_channels) &&
                within(structure.blocks, 1, most_blocks) && within(structure.attention, 0, structure.blocks) &&
                within(structure.kernel, 3, most_kernel) && structure.kernel % 2 == 1,
            "{}: {} × {} pixels and {} blocks of {} channels, {} attentions and a kernel of {} make no pixel net",
            where, structure.height, structure.width, structure.blocks, structure.channels, structure.attention,
            structure.kernel);
    require_numbers(file, numbers_of(structure), where);
    PixelNet net(structure);
    read_parameters(net.parameters(), file, where);
    const std::int64_t pixels = net.pixels();
    return std::make_unique<PixelNetModel>(info_of(header, pixels), std::move(net));
  });
}

std::int64_t pixels_of(const RunConfig& config) { return make_unit(config.visible)->width(); }

ModelSize size_of(const RunConfig& config) {
  const PixelNetStructure shape = structure_of(config, {.height = 1, .width = pixels_of(config)});
  const auto pixels = static_cast<double>(shape.width);
  // Some twenty tensors of a block are kept for the gradient, of the rows of a batch alone; the estimate of memory
  // counts units of watched rows as well, which here are worked off in parts. With a batch of 100 that comes to two.
  constexpr double tensors = 2, attention_tensors = 0.4;
  return {.weights = numbers_of(shape),
          .units = pixels * (tensors * static_cast<double>(shape.channels * shape.blocks) +
                             attention_tensors * pixels * static_cast<double>(shape.attention))};
}

}  // namespace

Family pixel_net_family() {
  namespace groups = option_groups;
  return {.name = "pixel_net",
          .title = "Pixel net",
          .help = "causal convolutions with attention over binary pictures: exact log-likelihood in one pass",
          .example = "harmonium train --data digits --model pixel_net --channels 16 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"dropout", "patience"}}),
          .own = OwnOptions(PixelNetOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train,
          .read = read,
          .size = size_of,
          .products =
              [](const RunConfig& config) {
                return 3 * static_cast<double>(config.batch * pixels_of(config)) * size_of(config).weights;
              },
          .words =
              [](const RunConfig& config) {
                const auto& own = config.own.as<PixelNetOptions>();
                return format("{} – {} blocks of {} channels, attention after {}", config.visible, own.blocks,
                              own.channels, own.attention);
              },
          .keeps_best = true};
}

}  // namespace harmonium
