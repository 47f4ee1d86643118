#include "harmonium/likelihood/importance_bound.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/likelihood/rising_bounds.h"
#include "harmonium/likelihood/weight_tails.h"

namespace harmonium {

namespace {

// Part of the names of random streams: another number gives other draws.
constexpr std::int64_t importance_rows_at_once = 500;
// Rows × draws that go through the decoder together.
constexpr std::int64_t importance_passes_at_once = 10000;

// log Σ w and log Σ w² of every row, added up as weights come.
struct LogSums {
  at::Tensor first, second;

  explicit LogSums(const at::Tensor& rows)
      : first(at::full({rows.size(0)}, -std::numeric_limits<double>::infinity(), rows.options().dtype(at::kDouble))),
        second(first) {}
  void add(const at::Tensor& log_weights) {
    first = at::logaddexp(first, at::logsumexp(log_weights, 1));
    second = at::logaddexp(second, at::logsumexp(2 * log_weights, 1));
  }
  [[nodiscard]] at::Tensor log_mean(std::int64_t count) const { return first - std::log(static_cast<double>(count)); }
  [[nodiscard]] at::Tensor effective() const { return (2 * first - second).exp(); }
};

// Calls visit(log weights) for all draws in turn, rows × some of them.
template <class Visit>
void for_each_piece(const LatentModel& model, const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                    const Key& key, Visit visit) {
  const std::int64_t at_once = std::max<std::int64_t>(1, importance_passes_at_once / rows.size(0));
  for (std::int64_t done = 0; done < draws; done += at_once)
    visit(model.infer(parameters, rows, std::min(at_once, draws - done), key, done).log_weights());
}

LogSums sums_of_draws(const LatentModel& model, const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                      const Key& key) {
  LogSums sums(rows);
  for_each_piece(model, parameters, rows, draws, key, [&](const at::Tensor& log_weights) { sums.add(log_weights); });
  return sums;
}

// Calls visit(first, rows first … of the table, their key) for consecutive blocks.
template <class Visit>
void for_each_block(const at::Tensor& rows, const Key& key, Visit visit) {
  for (std::int64_t first = 0; first < rows.size(0); first += importance_rows_at_once)
    visit(first, rows.narrow(0, first, std::min(importance_rows_at_once, rows.size(0) - first)),
          key.fold_in(static_cast<std::uint64_t>(first)));
}

Estimate mean_over_own_rows(const at::Tensor& per_row, EstimateKind kind, const std::string& how, const Key& key) {
  const Interval interval = bootstrap_mean(per_row, key);
  return {.value = per_row.mean().item<double>(),
          .low = interval.low,
          .high = interval.high,
          .kind = kind,
          .method = format("{}, {} rows of its own", how, per_row.size(0))};
}

}  // namespace

ImportanceBound importance_bound(const LatentModel& model, const Moments& parameters, const at::Tensor& rows,
                                 std::int64_t draws, const Key& key) {
  require(draws >= 2, "an importance bound needs at least two draws of each row for its error, not {}", draws);
  require(rows.dim() == 2 && rows.size(0) >= 1, "an importance bound needs rows");
  const c10::NoGradGuard without_gradient;
  std::vector<at::Tensor> log_p, effective, rising, tails;
  for_each_block(rows, key, [&](std::int64_t, const at::Tensor& block, const Key& block_key) {
    LogSums sums(block);
    RisingBounds bounds(block.size(0), draws, block.options());
    WeightTails largest(draws);
    for_each_piece(model, parameters, block, draws, block_key, [&](const at::Tensor& log_weights) {
      sums.add(log_weights);
      bounds.add(log_weights);
      largest.add(log_weights);
    });
    log_p.push_back(sums.log_mean(draws));
    effective.push_back(sums.effective());
    rising.push_back(bounds.bounds());
    if (const at::Tensor shapes = largest.shapes(); shapes.defined()) tails.push_back(shapes);
  });
  ImportanceBound result{.log_p = on_cpu(at::cat(log_p)),
                         .effective_draws = on_cpu(at::cat(effective)),
                         .rising = on_cpu(at::cat(rising)),
                         .tails = tails.empty() ? at::Tensor() : at::cat(tails),
                         .mean = {}};
  // Var log p̂ ≈ Var p̂ / p̂² = (Σw²/(Σw)² − 1/K)·K/(K − 1), with the variance of weights estimated from themselves.
  const auto k = static_cast<double>(draws), n = static_cast<double>(rows.size(0));
  const double variance = (1 / result.effective_draws - 1 / k).clamp_min(0).sum().item<double>() * k / (k - 1);
  const double half = 1.96 * std::sqrt(variance) / n;
  const double value = result.log_p.mean().item<double>();
  result.mean = {.value = value,
                 .low = value - half,
                 .high = value + half,
                 .kind = EstimateKind::lower_bound,
                 .method = format("importance, {} draws", draws),
                 .effective_samples = result.effective_draws.mean().item<double>()};
  return result;
}

OwnDrawBounds own_draw_bounds(const LatentModel& model, const Moments& parameters, std::int64_t count,
                              std::int64_t draws, const Key& key) {
  require(draws >= 1, "bounds on own draws need at least one draw of each row, not {}", draws);
  require(count >= 2, "bounds on own draws need at least two rows for their error, not {}", count);
  const c10::NoGradGuard without_gradient;
  const Dream made = model.dream(parameters, count, key.fold_in(0));
  std::vector<at::Tensor> lower, upper;
  for_each_block(made.visible, key.fold_in(1), [&](std::int64_t first, const at::Tensor& block, const Key& block_key) {
    LogSums with = sums_of_draws(model, parameters, block, draws - 1, block_key), without = with;
    without.add(model.infer(parameters, block, 1, block_key, draws - 1).log_weights());
    std::vector<at::Tensor> makers;
    for (const at::Tensor& layer : made.latents) makers.push_back(layer.narrow(0, first, block.size(0)).unsqueeze(1));
    with.add(model.score(parameters, block, makers).log_weights());
    lower.push_back(without.log_mean(draws));
    upper.push_back(with.log_mean(draws));
  });
  return bounds_on_own_rows(on_cpu(at::cat(lower)), on_cpu(at::cat(upper)), format("importance, {} draws", draws),
                            key.fold_in(2));
}

OwnDrawBounds bounds_on_own_rows(const at::Tensor& lower, const at::Tensor& upper, const std::string& how,
                                 const Key& key) {
  // One key for all: the same rows are resampled, so that the three intervals belong together.
  return {.lower = lower,
          .upper = upper,
          .lower_bound = mean_over_own_rows(lower, EstimateKind::lower_bound, how, key),
          .upper_bound = mean_over_own_rows(upper, EstimateKind::upper_bound, how, key),
          .gap_interval = bootstrap_mean(upper - lower, key)};
}

}  // namespace harmonium
