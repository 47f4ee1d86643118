// The family fvbn: fully visible belief nets, a regression of every variable on those before it
// (models/autoregressive/masked_net.h without hidden layers).
#include "harmonium/core/error.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

struct FvbnOptions {
  std::string order = "raster";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("order", self.order, "order of the inputs: raster, or random:SEED");
  }
};

void resolve(RunConfig& config, RunData&) {
  const std::string visible = autoregressive_visible(config.visible, "a fully visible belief net");
  auto& own = config.own.as<FvbnOptions>();
  own.order = resolved_order(own.order, 1, config.seed, make_distribution(visible)->variables());
  resolve_likelihood(config, 0.003);
}

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  return make_masked_net(config, data,
                         {.visible = autoregressive_visible(config.visible, "a fully visible belief net"),
                          .hidden = {},
                          .direct = true,
                          .constant_spread = true,
                          .order = config.own.as<FvbnOptions>().order});
}

ModelSize size_of(const RunConfig& config) {
  const auto width = static_cast<double>(make_unit(config.visible)->width());
  return {.weights = width * width, .units = 2 * width};
}

}  // namespace

Family fvbn_family() {
  namespace groups = option_groups;
  return {.name = "fvbn",
          .title = "Fully visible belief net",
          .help = "fully visible belief net: a logistic (linear, softmax) regression of each pixel on those before it",
          .example = "harmonium train --data digits --model fvbn --weight-decay 0.001 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"patience"}}),
          .own = OwnOptions(FvbnOptions{}),
          .resolve = resolve,
          .make = make,
          .train = train_masked_net,
          .read = read_masked_net,
          .size = size_of,
          .products =
              [](const RunConfig& config) { return 3 * static_cast<double>(config.batch) * size_of(config).weights; },
          .words =
              [](const RunConfig& config) {
                return format("{}, order {}", config.visible, config.own.as<FvbnOptions>().order);
              },
          .keeps_best = true};
}

}  // namespace harmonium
