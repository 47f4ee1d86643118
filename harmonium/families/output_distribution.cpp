#include "harmonium/families/output_distribution.h"

#include "harmonium/core/error.h"
#include "harmonium/distributions/logistic_mixture.h"

namespace harmonium {

std::string output_distribution(const RunConfig& config, const RunData& data, std::int64_t components) {
  const auto visible = make_unit(config.visible);
  if (data.binarization == Binarization::levels)
    return LogisticMixtureDistribution(visible->width(), gray_levels(data.train), components).spec();
  switch (visible->support()) {
    case Unit::Support::bits:
      return format("bernoulli:{}", visible->width());
    case Unit::Support::one_hot:
      return "categorical:" + config.visible.substr(config.visible.find(':') + 1);
    default:
      // Without a floor, constant pixels would pay without limit.
      return format("shared_gaussian:{}:0.01", visible->width());
  }
}

std::string values_in_words(const RunConfig& config) {
  if (config.binarize != to_string(Binarization::levels)) return config.visible;
  return format("{} gray values", make_unit(config.visible)->width());
}

std::int64_t output_columns(const RunConfig& config, std::int64_t components) {
  const std::int64_t width = make_unit(config.visible)->width();
  return config.binarize == to_string(Binarization::levels) ? 3 * components * width : width;
}

void resolve_components(const RunConfig& config, std::int64_t& components) {
  constexpr std::int64_t most_components = 100;
  const bool levels = config.binarize == to_string(Binarization::levels);
  require(levels || components == 0, "@components {} is for gray levels: add @binarize levels", components);
  if (levels && components == 0) components = LogisticMixtureDistribution::usual_components;
  require(components >= 0 && components <= most_components, "@components {}: give a number from 1 to {}", components,
          most_components);
}

void check_protocol(const Distribution& output, const TestData& test) {
  const auto* levels = dynamic_cast<const LogisticMixtureDistribution*>(&output);
  const bool has_levels = test.protocol == Binarization::levels;
  require(levels == nullptr || has_levels,
          "{}: this model gives a probability to each gray level and is judged by these alone; leave @binarize {} out",
          test.spec, to_string(test.protocol));
  require(levels != nullptr || !has_levels,
          "{}: this model has no probabilities of gray levels; leave @binarize levels out", test.spec);
  if (levels == nullptr) return;
  const std::int64_t found = gray_levels(test.gray);
  require(found == levels->levels(), "{} has {} gray levels, the model has {}: give @scale {}", test.spec, found,
          levels->levels(), levels->levels() - 1);
}

}  // namespace harmonium
