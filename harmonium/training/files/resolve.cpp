#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/training/files/run.h"

namespace harmonium {

namespace {

// "digits" and "digits:train" have "digits:valid"; a path or a set without such a part has none. The 60 000 training
// images of MNIST include those called mnist:valid, so only mnist:fit is watched with them.
std::string automatic_valid(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon), part = colon == std::string::npos ? "train" : spec.substr(colon + 1);
  for (const CatalogEntry& entry : list_datasets()) {
    if (entry.name != name) continue;
    const auto has = [&](const std::string& wanted) { return std::ranges::find(entry.parts, wanted, &CatalogPart::name) != entry.parts.end(); };
    const bool separate = has("fit") ? part == "fit" : part == "train";
    if (separate && has("valid")) return name + ":valid";
  }
  return "none";
}

Binarization choose_binarization(std::string& choice, const Dataset& data, const std::string& visible) {
  if (choice == "auto") choice = visible.starts_with("bernoulli") && !data.is_binary() ? "stochastic" : "none";
  return parse_binarization(choice);
}

}  // namespace

RunData resolve(RunConfig& config) {
  require(config.model == "rbm" || config.model == "classification_rbm", "unknown model '{}'; there are: rbm, classification_rbm", config.model);
  const CatalogOptions options{.limit = config.limit, .label_column = config.label_column};
  RunData data;
  data.train = open_dataset(config.data, options);
  if (config.valid == "auto") config.valid = automatic_valid(config.data);
  if (config.valid != "none") data.valid = open_dataset(config.valid, options);

  const std::int64_t columns = data.train.columns();
  if (config.visible == "auto" || config.visible == "bernoulli") config.visible = format("bernoulli:{}", columns);
  if (config.visible == "gaussian") config.visible = format("gaussian:{}", columns);
  if (config.visible.starts_with("softmax:") && config.visible.find('x') == std::string::npos) {
    const std::int64_t states = std::atoll(config.visible.c_str() + 8);
    require(states >= 2 && columns % states == 0, "--visible {}: {} columns are not groups of that many states", config.visible, columns);
    config.visible = format("softmax:{}x{}", columns / states, states);
  }
  data.binarization = choose_binarization(config.binarize, data.train, config.visible);

  const Rates rates = config.rate_bias == 0 || config.rate_weights == 0 ? default_rates(config.optimizer) : Rates{};
  if (config.rate_bias == 0) config.rate_bias = rates.bias;
  if (config.rate_weights == 0) config.rate_weights = rates.weights;
  require(config.rate_bias >= 0 && config.rate_weights >= 0, "learning rates cannot be negative");
  require(config.updates >= 1, "--updates must be at least 1, not {}", config.updates);
  require(config.batch >= 1, "--batch must be at least 1, not {}", config.batch);
  require(config.checkpoint_every >= 1, "--checkpoint-every must be at least 1, not {}", config.checkpoint_every);
  if (config.particles == 0) config.particles = config.batch;
  if (config.log_every <= 0) config.log_every = std::max<std::int64_t>(1, config.updates / 200);
  return data;
}

}  // namespace harmonium
