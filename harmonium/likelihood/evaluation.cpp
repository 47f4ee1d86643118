#include "harmonium/likelihood/evaluation.h"

#include <cmath>
#include <tuple>

#include "harmonium/core/error.h"
#include "harmonium/core/format.h"
#include "harmonium/likelihood/importance_bound.h"

namespace harmonium {

std::string in_words(const HiddenLayers& hidden) {
  if (hidden.exact) return "hidden layers by " + hidden.method;
  if (hidden.gap)
    return format("hidden layers by {}, {} chains × {} β a row; upward and downward differ by {:.2f} nats",
                  hidden.method, hidden.chains, hidden.betas, *hidden.gap);
  return format("hidden layers by {}, {} sweeps, {}", hidden.method, hidden.sweeps,
                hidden.converged ? "converged" : format("not converged (means still move by {:.1g})", hidden.change));
}

void require_finite(const Evaluation& evaluation) {
  const auto check = [&](const char* what, const std::optional<Estimate>& estimate) {
    if (!estimate || std::isfinite(estimate->value)) return;
    fail(
        "{}{} was found to be {}, which is not a finite number. The model's parameters may be too large for its "
        "arithmetic, or not finite themselves; train it again with a smaller @rate_weights",
        evaluation.model.empty() ? "" : evaluation.model + ": ", what, estimate->value);
  };
  check("log Z", evaluation.log_z);
  check("the log-likelihood", evaluation.log_likelihood);
  check("the bound by RAISE", evaluation.raise);
  check("the upper bound on log Z", evaluation.upper_log_z);
}

bool same_question(const Evaluation& one, const Evaluation& other) {
  const auto bounds = [](const Evaluation& each) { return each.hidden && each.hidden->bounds(); };
  const auto importance = [](const Evaluation& each) {
    return each.log_likelihood ? importance_draws(*each.log_likelihood) : 0;
  };
  const Estimate &first = one.way(), &second = other.way();
  return bounds(one) == bounds(other) && importance(one) == importance(other) && one.data == other.data &&
         one.n == other.n && one.binarization == other.binarization && first.method == second.method &&
         one.gap.has_value() == other.gap.has_value() && first.chains == second.chains && first.betas == second.betas;
}

bool at_least_as_good(const Evaluation& later, const Evaluation& earlier) {
  const auto rank = [](const Evaluation& each) {
    const Estimate& way = each.way();
    return std::tuple(way.kind == EstimateKind::exact, way.kind == EstimateKind::unbiased_estimate, way.betas,
                      each.gap.has_value(), way.chains);
  };
  return rank(later) >= rank(earlier);
}

}  // namespace harmonium
