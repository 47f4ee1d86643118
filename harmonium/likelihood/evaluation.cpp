#include "harmonium/likelihood/evaluation.h"

#include <tuple>

#include "harmonium/core/format.h"

namespace harmonium {

std::string in_words(const HiddenLayers& hidden) {
  if (hidden.exact) return "hidden layers by " + hidden.method;
  return format("hidden layers by {}, {} sweeps, {}", hidden.method, hidden.sweeps,
                hidden.converged ? "converged" : format("not converged (means still move by {:.1g})", hidden.change));
}

bool same_question(const Evaluation& one, const Evaluation& other) {
  const auto bounds = [](const Evaluation& each) { return each.hidden && !each.hidden->exact; };
  const Estimate &first = one.way(), &second = other.way();
  return bounds(one) == bounds(other) && one.data == other.data && one.n == other.n &&
         one.binarization == other.binarization && first.method == second.method &&
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
