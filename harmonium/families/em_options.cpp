#include "harmonium/families/em_options.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/families/option_groups.h"

namespace harmonium {

std::vector<std::string> options_of_em() {
  namespace groups = option_groups;
  std::vector<std::string> names = groups::joined({groups::common(), groups::tracked(), {"patience"}});
  for (const char* other : {"optimizer", "rate_bias", "momentum", "weight_decay", "weight_decay_l1"})
    std::erase(names, other);
  return names;
}

void resolve_em(RunConfig& config, const RunData& data, std::int64_t components, double smoothing) {
  constexpr std::int64_t most_components = 1'000'000;
  require(components >= 1 && components <= most_components, "@components {}: give a number from 1 to {}", components,
          most_components);
  require(std::isfinite(smoothing) && smoothing >= 0, "@smoothing must be a number that is not negative, not {}",
          smoothing);
  if (config.optimizer == "auto") config.optimizer = "sgd";
  require(config.optimizer == "sgd" && config.momentum == 0 && config.weight_decay == 0 && config.weight_decay_l1 == 0,
          "a mixture is trained by EM alone: no optimizer, momentum or decay can be chosen");
  // Of all rows a step is EM's own, of a batch mostly noise. Digits, validation rows, 100 components: 0.02 was 0.04
  // nats better than 0.05 and 0.3 better than 0.2.
  constexpr double online_rate = 0.02;
  if (config.rate_weights == 0) config.rate_weights = config.batch >= data.train.rows() ? 1 : online_rate;
  if (config.rate_bias == 0) config.rate_bias = config.rate_weights;
  require(config.rate_weights <= 1 && config.rate_bias == config.rate_weights,
          "@rate_weights {}: the share that a batch has in the statistics is at most 1", config.rate_weights);
  require(config.patience == 0 || config.keep == "best",
          "@patience stops where validation data get no better, and nothing is kept by them: add @valid, or @keep "
          "best");
}

std::vector<ParameterGroup> groups_of_em(const Moments& parameters) {
  ParameterGroup all{.names = {}, .kind = ParameterKind::weights};
  for (const auto& [name, value] : parameters.entries()) all.names.push_back(name);
  return {all};
}

}  // namespace harmonium
