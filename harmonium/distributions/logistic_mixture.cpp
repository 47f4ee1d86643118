#include "harmonium/distributions/logistic_mixture.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/distributions/mixture.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double smallest_scale = 1.0 / 40;  // of a logistic distribution, in levels
constexpr double largest_log_scale = 7;      // of the range; beyond, all levels are alike

}  // namespace

LogisticMixtureDistribution::LogisticMixtureDistribution(std::int64_t width, std::int64_t levels,
                                                         std::int64_t components)
    : Distribution(width), levels_(levels), components_(components) {
  constexpr std::int64_t most_components = 1000;
  require(levels >= 2 && levels <= most_levels, "gray values have 2 to {} levels, not {}", most_levels, levels);
  require(components >= 1 && components <= most_components, "a mixture has 1 to {} components, not {}", most_components,
          components);
}

std::string LogisticMixtureDistribution::spec() const {
  return format("logistic_mixture:{}x{}:{}", width(), levels_, components_);
}

std::string LogisticMixtureDistribution::unit_spec() const { return format("gaussian:{}", width()); }

std::vector<std::int64_t> LogisticMixtureDistribution::raw_variables() const {
  std::vector<std::int64_t> result;
  for (std::int64_t column = 0; column < raw_width(); ++column) result.push_back(column / (3 * components_));
  return result;
}

std::shared_ptr<const Distribution> LogisticMixtureDistribution::of_one_variable() const {
  return std::make_shared<LogisticMixtureDistribution>(1, levels_, components_);
}

LogisticMixtureDistribution::Parts LogisticMixtureDistribution::parts(const at::Tensor& raw) const {
  const MixtureColumns columns = mixture_columns(raw, width(), components_);
  const auto range = static_cast<double>(levels_ - 1);
  return {.log_weight = columns.log_weight,
          .place = columns.place * range,
          .log_scale = at::logaddexp(columns.width.clamp_max(largest_log_scale) + std::log(range),
                                     at::full({}, std::log(smallest_scale), raw.options()))};
}

at::Tensor LogisticMixtureDistribution::log_prob_each(const at::Tensor& value, const at::Tensor& raw) const {
  const Parts all = parts(raw);
  const at::Tensor level = (value.detach() * static_cast<double>(levels_ - 1)).round().unsqueeze(-1);
  const at::Tensor inverse = at::exp(-all.log_scale), none = at::zeros({}, inverse.options());
  const at::Tensor below = at::log_sigmoid((level + 0.5 - all.place) * inverse),  // of not being above the level
      above = at::log_sigmoid((all.place - level + 0.5) * inverse),               // of not being below it
      both = at::log(-at::expm1(-inverse));
  const at::Tensor first = level.le(0), last = level.ge(static_cast<double>(levels_ - 1));
  const at::Tensor log_level =
      at::where(last, none, below) + at::where(first, none, above) + at::where(first.logical_or(last), none, both);
  return at::logsumexp(all.log_weight + log_level, -1);
}

at::Tensor LogisticMixtureDistribution::sample(const Key& key, const at::Tensor& raw) const {
  const c10::NoGradGuard without_gradient;
  const Parts all = parts(raw.to(at::kDouble));
  const at::Tensor chosen = drawn_component(key.fold_in(0), all.log_weight);
  const at::Tensor place = all.place.gather(-1, chosen).squeeze(-1),
                   scale = all.log_scale.gather(-1, chosen).squeeze(-1).exp();
  // Where u is 0 the draw is −∞, which is the first level.
  const at::Tensor u = uniform(key.fold_in(1), place.sizes(), place.options());
  const auto range = static_cast<double>(levels_ - 1);
  const at::Tensor level = (place + scale * (u.log() - at::log1p(-u))).round().clamp(0, range);
  return (level / range).to(raw.scalar_type());
}

at::Tensor LogisticMixtureDistribution::mean(const at::Tensor& raw) const {
  const Parts all = parts(raw);
  const at::Tensor inverse = at::exp(-all.log_scale);
  at::Tensor sum = at::zeros_like(all.place);
  for (std::int64_t level = 1; level < levels_; ++level)
    sum = sum + at::sigmoid((all.place - (static_cast<double>(level) - 0.5)) * inverse);
  return (all.log_weight.exp() * sum).sum(-1) / static_cast<double>(levels_ - 1);
}

at::Tensor LogisticMixtureDistribution::raw_of_means(const at::Tensor& means) const {
  constexpr double spread = 0.2, scale = 0.1;
  const at::Tensor places =
      (at::arange(components_, means.options()) + 0.5) * (2 * spread / static_cast<double>(components_)) - spread;
  const at::Tensor m = means.unsqueeze(-1) + places, none = at::zeros_like(m);
  return at::stack({none, m, none + std::log(scale)}, -2).reshape({-1});
}

std::string LogisticMixtureDistribution::complaint(const at::Tensor& value) const {
  constexpr double tolerance = 1e-3;  // of a level: float32 has 1e-5 at 256 of them
  const auto range = static_cast<double>(levels_ - 1);
  const at::Tensor level = value.to(at::kDouble) * range;
  const at::Tensor bad = (level - level.round().clamp(0, range)).abs().le(tolerance).logical_not();  // NaN is bad
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  const auto row = where[0].item<std::int64_t>(), column = where[1].item<std::int64_t>();
  return format("row {}, column {} holds {}, which is not one of the {} gray levels 0, 1/{}, …, 1", row, column,
                value[row][column].item<double>(), levels_, levels_ - 1);
}

}  // namespace harmonium
