#include "harmonium/likelihood/evaluation.h"

#include <ATen/ATen.h>

#include <cmath>
#include <tuple>

#include "harmonium/core/error.h"
#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
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

JudgedSequences judged_sequences(const at::Tensor& of_frames, const std::vector<std::int64_t>& lengths) {
  const auto n = static_cast<double>(lengths.size()), frames = static_cast<double>(of_frames.numel());
  std::vector<double> sums;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    sums.push_back(of_frames.narrow(0, first, length).sum().item<double>());
    first += length;
  }
  require(first == of_frames.numel() && first > 0, "{} frames are not those of {} sequences", of_frames.numel(),
          lengths.size());
  const double of_all = of_frames.sum().item<double>(), per_frame = of_all / frames;
  JudgedSequences result{.count = static_cast<std::int64_t>(lengths.size()), .mean = of_all / n};
  if (lengths.size() < 2) return result;
  // The mean per frame is a ratio of two sums over sequences: to first order its error is that of the sum of what is
  // left of each.
  double spread = 0, ratio_spread = 0;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const double left = sums[s] - per_frame * static_cast<double>(lengths[s]);
    spread += (sums[s] - result.mean) * (sums[s] - result.mean);
    ratio_spread += left * left;
  }
  const double half = 1.96 * std::sqrt(spread / (n * (n - 1)));
  const double frame_half = 1.96 * std::sqrt(ratio_spread * n / (n - 1)) / frames;
  result.intervals = {.low = result.mean - half,
                      .high = result.mean + half,
                      .frame_low = per_frame - frame_half,
                      .frame_high = per_frame + frame_half};
  return result;
}

std::string in_words(const JudgedSequences& sequences) {
  std::string text = format("{} sequence{}, {} nats each", sequences.count, sequences.count == 1 ? "" : "s",
                            fixed_number(sequences.mean, 2));
  if (const auto& i = sequences.intervals)
    text += format(" [{}, {}]; per frame [{}, {}] if sequences were drawn anew", fixed_number(i->low, 2),
                   fixed_number(i->high, 2), fixed_number(i->frame_low, 3), fixed_number(i->frame_high, 3));
  return text;
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
