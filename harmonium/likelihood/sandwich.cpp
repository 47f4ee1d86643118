#include "harmonium/likelihood/sandwich.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

std::string number(double value, double precision) {
  const std::string digits = format("{:.{}f}", std::abs(value), precision >= 1 ? 1 : precision >= 0.05 ? 2 : 3);
  return (value < 0 ? "−" : "") + digits;
}

}  // namespace

// Two figures that matter: "44", "4.4", "0.4", "0.04".
std::string in_nats(double value) {
  const double size = std::abs(value);
  return format("{:.{}f} nat{}", size, size >= 10 ? 0 : size >= 0.1 ? 1 : 2, size > 1 ? "s" : "");
}

std::string name_of_bound(const Estimate& upper) { return upper.method == "raise" ? "RAISE" : "reverse AIS"; }

double Sandwich::noise() const { return std::hypot(upper.high - upper.low, lower.high - lower.low) / 2; }

bool Sandwich::agrees(double acceptable) const { return std::abs(gap()) <= acceptable && noise() <= acceptable; }

bool Sandwich::contradicts(double acceptable) const { return gap() < -std::max(acceptable, noise()); }

Agreement agreement(const Sandwich& sandwich, double acceptable) {
  if (sandwich.contradicts(acceptable)) return Agreement::contradict;
  if (sandwich.agrees(acceptable)) return Agreement::agree;
  return sandwich.gap() <= sandwich.noise() ? Agreement::agree_within_noise : Agreement::differ;
}

std::string verdict(const Sandwich& sandwich, std::optional<double> mean_log_unnormalized, double acceptable) {
  const double gap = sandwich.gap(), noise = sandwich.noise();
  const Agreement found = agreement(sandwich, acceptable);
  const std::string other = name_of_bound(sandwich.upper);
  const auto shown = [&](const Estimate& log_z) {
    return number(mean_log_unnormalized ? *mean_log_unnormalized - log_z.value : log_z.value, std::abs(gap));
  };
  const std::string what = mean_log_unnormalized ? "" : "log Z = ";
  if (found == Agreement::contradict)
    return format(
        "AIS and {} contradict each other by {}: AIS says more for log Z than a bound from above, which one lucky chain "
        "among few can do. Use more chains and more β",
        other, in_nats(gap));
  if (found == Agreement::agree)
    return format("AIS and {} agree within {}: trust {}{}", other, in_nats(std::max({std::abs(gap), noise, 0.01})),
                  what, shown(sandwich.lower));
  if (found == Agreement::agree_within_noise)
    return format("AIS and {} agree within their noise of {}: trust {}{}, no better than that; use more β{}", other,
                  in_nats(noise), what, shown(sandwich.lower), other == "RAISE" ? ", chains and rows" : " and chains");
  return format(
      "they differ by {}: AIS is overestimating{}, or {} is loose; the truth lies between {} and {}. Use "
      "more β",
      in_nats(gap), mean_log_unnormalized ? "" : " the likelihood", other,
      shown(mean_log_unnormalized ? sandwich.upper : sandwich.lower),
      shown(mean_log_unnormalized ? sandwich.lower : sandwich.upper));
}

const Estimate& cautious(const Estimate& raise, const Estimate& reverse, double acceptable) {
  const Sandwich both{raise, reverse};
  return both.gap() > std::max(acceptable, both.noise()) ? reverse : raise;
}

std::string verdict(const Estimate& ais, const Estimate& raise, const Estimate& reverse,
                    std::optional<double> mean_log_unnormalized, double acceptable) {
  const Sandwich by_data{ais, raise}, by_model{ais, reverse};
  const bool reverse_says_more = &cautious(raise, reverse, acceptable) == &reverse;
  if (!reverse_says_more || by_data.gap() > std::max(acceptable, by_data.noise()))
    return verdict(reverse_says_more ? by_model : by_data, mean_log_unnormalized, acceptable);
  return format(
      "AIS and RAISE agree, but samples of the model say that log Z is higher by up to {}: the model has modes that "
      "the data do not know, or its samples are not yet its own. Do not trust {}; look at samples of the model, and use "
      "more β",
      in_nats(by_model.gap()), number(mean_log_unnormalized ? *mean_log_unnormalized - ais.value : ais.value, 1));
}

std::string warning(const Estimate& ais) {
  if (ais.effective_samples && *ais.effective_samples < 0.1 * static_cast<double>(ais.chains))
    return format(
        "few effective samples ({:.1f} of {}): log Z is probably too low and the likelihood too high. Use more "
        "β",
        *ais.effective_samples, ais.chains);
  if (ais.pareto_k && *ais.pareto_k > 0.7)
    return format(
        "the weights have a heavy tail (Pareto k = {:.2f} > 0.7): neither log Z nor its interval can be "
        "trusted. Use more β",
        *ais.pareto_k);
  return "";
}

}  // namespace harmonium
