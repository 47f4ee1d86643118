#include "harmonium/likelihood/judgement.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/likelihood/sandwich.h"

namespace harmonium {

namespace {

// Intervals of these kinds come from resampling importance weights; bounds average over rows or chains instead.
bool rests_on_weights(const Estimate& estimate) {
  return estimate.kind == EstimateKind::unbiased_estimate || estimate.kind == EstimateKind::estimate ||
         estimate.kind == EstimateKind::estimated_lower_bound;
}

// The log-likelihood (log Z where there are no data) for a value of log Z.
double at_log_z(const Evaluation& evaluation, double log_z) {
  if (!evaluation.log_likelihood) return log_z;
  return evaluation.log_likelihood->value + evaluation.log_z->value - log_z;
}

// RAISE agrees with AIS, and samples of the model do not.
bool modes_without_data(const Evaluation& evaluation) {
  if (!evaluation.raise || !evaluation.upper_log_z->method.starts_with("reverse")) return false;
  const double gap = evaluation.log_likelihood->value - evaluation.raise->value;
  const double noise =
      std::hypot(evaluation.raise->high - evaluation.raise->low, evaluation.log_z->high - evaluation.log_z->low) / 2;
  return gap <= std::max(evaluation.acceptable, noise);
}

std::string reason_of(Agreement found, const Sandwich& both, const Evaluation& evaluation) {
  if (found == Agreement::contradict)
    return format("AIS and {} contradict each other by {}", name_of_bound(both.upper), in_nats(both.gap()));
  if (modes_without_data(evaluation))
    return format("samples of the model say that log Z is higher by up to {}", in_nats(both.gap()));
  return format("AIS and {} differ by {}", name_of_bound(both.upper), in_nats(both.gap()));
}

// What annealing of rows leaves open is a doubt of its own where it is large.
Judgement with_rows(Judgement found, const Evaluation& evaluation) {
  if (!evaluation.hidden || !evaluation.hidden->gap) return found;
  const double gap = *evaluation.hidden->gap;
  if (found.trusted && gap > evaluation.acceptable) {
    found.trusted = false;
    found.reason = format("annealing of rows upward and downward differs by {}", in_nats(gap));
  }
  return found;
}

Judgement of_sandwich(const Evaluation& evaluation) {
  const Sandwich both{*evaluation.log_z, *evaluation.upper_log_z};
  const Agreement found = agreement(both, evaluation.acceptable);
  Judgement result;
  // Bounds that contradict each other say no more than where both of them and their noise are.
  const bool with_noise = found != Agreement::differ;
  const double least = std::min(with_noise ? both.lower.low : both.lower.value,
                                with_noise ? both.upper.low : both.upper.value),
               greatest = std::max(with_noise ? both.lower.high : both.lower.value,
                                   with_noise ? both.upper.high : both.upper.value);
  const double one = at_log_z(evaluation, least), other = at_log_z(evaluation, greatest);
  result.lower = std::min(one, other);
  result.upper = std::max(one, other);
  if (evaluation.hidden && evaluation.hidden->gap) *result.upper += std::max(0.0, *evaluation.hidden->gap);
  // Of a bound from below only that side is known.
  if (evaluation.log_likelihood && evaluation.log_likelihood->kind == EstimateKind::estimated_lower_bound)
    result.upper.reset();
  if (found == Agreement::differ || found == Agreement::contradict) {
    result.trusted = false;
    result.reason = reason_of(found, both, evaluation);
  }
  return result;
}

// AIS without a bound beside it: its weights are all there is to go by.
Judgement of_weights(const Evaluation& evaluation, const Estimate& shown) {
  const Estimate& weights = evaluation.way();
  std::string reason;
  if (!has_interval(weights) || !warning(weights).empty()) {
    const bool few = weights.effective_samples &&
                     (!has_interval(weights) || *weights.effective_samples < 0.1 * double(weights.chains));
    reason = few ? format("from {:.1f} effective samples", *weights.effective_samples)
                 : format("its weights have a heavy tail (Pareto k = {:.2f})", *weights.pareto_k);
  }
  if (reason.empty()) return {.lower = shown.low, .upper = shown.high};
  // log Z comes out too low, and the log-likelihood too high.
  Judgement result{.trusted = false, .reason = reason};
  if (!evaluation.log_likelihood)
    result.lower = shown.value;
  else if (shown.kind != EstimateKind::estimated_lower_bound)
    result.upper = shown.value;
  return result;
}

}  // namespace

bool has_interval(const Estimate& estimate) {
  return !rests_on_weights(estimate) || !estimate.effective_samples ||
         *estimate.effective_samples >= fewest_effective_samples;
}

std::string interval_remark(const Estimate& estimate) {
  return has_interval(estimate) ? ""
                                : format("from {:.1f} effective samples: no interval", *estimate.effective_samples);
}

Judgement judgement(const Evaluation& evaluation) {
  if (!evaluation.log_z && !evaluation.log_likelihood) return {.trusted = false, .reason = "nothing was found"};
  const Estimate& shown = evaluation.log_likelihood ? *evaluation.log_likelihood : *evaluation.log_z;
  if (!std::isfinite(shown.value)) return {.trusted = false, .reason = "what was found is not a finite number"};
  if (evaluation.gap && evaluation.upper_log_z && evaluation.log_z)
    return with_rows(of_sandwich(evaluation), evaluation);
  switch (shown.kind) {
    case EstimateKind::exact:
      return {.lower = shown.value, .upper = shown.value};
    case EstimateKind::lower_bound:
      return {.lower = shown.value};
    case EstimateKind::upper_bound:
      return {.upper = shown.value};
    default:
      return with_rows(of_weights(evaluation, shown), evaluation);
  }
}

std::string bracket(const Judgement& judgement) {
  const auto& [trusted, lower, upper, reason] = judgement;
  if (lower && upper) {
    const double width = *upper - *lower;
    const int decimals = width >= 1 ? 1 : width >= 0.05 ? 2 : 3;
    return format("between {} and {} nats", fixed_number(*lower, decimals), fixed_number(*upper, decimals));
  }
  if (lower) return format("at least {} nats", fixed_number(*lower, 1));
  if (upper) return format("at most {} nats", fixed_number(*upper, 1));
  return "unknown";
}

std::string doubt(const Judgement& judgement) { return judgement.trusted ? "" : "not trusted: " + judgement.reason; }

std::string in_words(const Judgement& judgement) {
  return bracket(judgement) + (judgement.trusted ? "" : ", " + doubt(judgement));
}

}  // namespace harmonium
