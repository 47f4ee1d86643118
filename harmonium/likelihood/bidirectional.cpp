#include "harmonium/likelihood/bidirectional.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Part of the names of random streams: another number gives other draws.
constexpr std::int64_t bidirectional_rows_at_once = 500;
// Rows × draws that go through the nets together.
constexpr std::int64_t bidirectional_passes_at_once = 10'000;

// log w of q's draws, rows × draws.
at::Tensor weights_of_draws(const LatentModel& model, const Moments& parameters, const at::Tensor& rows,
                            std::int64_t draws, const Key& key) {
  const std::int64_t at_once = std::max<std::int64_t>(1, bidirectional_passes_at_once / rows.size(0));
  std::vector<at::Tensor> pieces;
  for (std::int64_t done = 0; done < draws; done += at_once)
    pieces.push_back(model.infer(parameters, rows, std::min(at_once, draws - done), key, done).log_weights());
  return at::cat(pieces, 1);
}

}  // namespace

BidirectionalBound bidirectional_bound(const LatentModel& model, const Moments& parameters, const at::Tensor& rows,
                                       std::int64_t draws, const Key& key) {
  require(draws >= 2, "a bound needs at least two draws of each row for its error, not {}", draws);
  require(rows.dim() == 2 && rows.size(0) >= 1, "a bound needs rows");
  const c10::NoGradGuard without_gradient;
  const double log_draws = std::log(static_cast<double>(draws));
  std::vector<at::Tensor> bounds;
  double variance = 0;
  for (std::int64_t first = 0; first < rows.size(0); first += bidirectional_rows_at_once) {
    const at::Tensor block = rows.narrow(0, first, std::min(bidirectional_rows_at_once, rows.size(0) - first));
    const at::Tensor roots =
        0.5 * weights_of_draws(model, parameters, block, draws, key.fold_in(static_cast<std::uint64_t>(first)));
    const at::Tensor log_mean = at::logsumexp(roots, 1, /*keepdim=*/true) - log_draws;
    bounds.push_back(on_cpu(2 * log_mean.squeeze(1)));
    // To first order, the variance of 2 log of a mean of ratios around one.
    variance += 4 * (roots - log_mean).exp().var(1).sum().item<double>() / static_cast<double>(draws);
  }
  BidirectionalBound result{.log_p = at::cat(bounds), .mean = {}};
  const double value = result.log_p.mean().item<double>();
  const double half = 1.96 * std::sqrt(variance) / static_cast<double>(rows.size(0));
  result.mean = {.value = value,
                 .low = value - half,
                 .high = value + half,
                 .kind = EstimateKind::lower_bound,
                 .method = format("bidirectional machine, {} draws", draws),
                 .chains = draws};
  return result;
}

Estimate bidirectional_log_z2(const LatentModel& model, const Moments& parameters, std::int64_t count,
                              std::int64_t draws, const Key& key) {
  require(count >= 2, "log Z² needs at least two rows of the net's own for its error, not {}", count);
  require(draws >= 1, "log Z² needs at least one draw of each row, not {}", draws);
  const c10::NoGradGuard without_gradient;
  const Dream made = model.dream(parameters, count, key.fold_in(0));
  std::vector<at::Tensor> makers;
  for (const at::Tensor& layer : made.latents) makers.push_back(layer.unsqueeze(1));
  const at::Tensor of_makers = model.score(parameters, made.visible, makers).log_weights();  // count × 1
  const at::Tensor of_draws = weights_of_draws(model, parameters, made.visible, draws, key.fold_in(1));
  const at::Tensor log_ratio = at::logsumexp(0.5 * (of_draws - of_makers), 1) - std::log(static_cast<double>(draws));
  const at::Tensor each = on_cpu(log_ratio);
  const Interval interval = bootstrap_log_mean_exp(each, key.fold_in(2));
  return {.value = log_mean_exp(each),
          .low = interval.low,
          .high = interval.high,
          .kind = EstimateKind::unbiased_estimate,
          .method = format("{} rows of its own, {} draws of each", count, draws),
          .effective_samples = effective_sample_size(each)};
}

}  // namespace harmonium
