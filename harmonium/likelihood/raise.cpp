#include "harmonium/likelihood/raise.h"

#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

namespace {

// Over rows; one row alone has only its chains to go by.
Interval interval_of_mean(const at::Tensor& per_row, const at::Tensor& log_weights, double sign, const Key& key) {
  if (per_row.size(0) > 1) return bootstrap_mean(per_row, key);
  const Interval chains = bootstrap_log_mean_exp(log_weights.reshape({-1}), key);
  const double shift = per_row[0].item<double>() - sign * log_mean_exp(log_weights.reshape({-1}));
  return sign > 0 ? Interval{shift + chains.low, shift + chains.high}
                  : Interval{shift - chains.high, shift - chains.low};
}

}  // namespace

RaiseResult raise_of_weights(const at::Tensor& log_weights, const at::Tensor& log_f, double base_log_z,
                             std::int64_t steps, std::uint64_t seed) {
  const std::int64_t chains = log_weights.size(1);
  RaiseResult result;
  const at::Tensor mean = at::logsumexp(log_weights, 1) - std::log(static_cast<double>(chains));
  result.log_p = log_f - base_log_z + mean;
  result.log_z = base_log_z - mean;
  const Key key = Key(seed).fold_in(0xB008);
  const auto estimate = [&](const at::Tensor& per_row, EstimateKind kind, double sign) {
    const Interval interval = interval_of_mean(per_row, log_weights, sign, key);
    return Estimate{.value = per_row.mean().item<double>(),
                    .low = interval.low,
                    .high = interval.high,
                    .kind = kind,
                    .method = "raise",
                    .chains = chains,
                    .betas = steps};
  };
  result.log_likelihood = estimate(result.log_p, EstimateKind::lower_bound, 1);
  result.upper_log_z = estimate(result.log_z, EstimateKind::upper_bound, -1);
  return result;
}

RaiseResult raise(const AnnealingPath& path, const State& rows, std::int64_t chains, const AnnealingOptions& options) {
  require(chains >= 1, "raise: needs at least one chain for each row, not {}", chains);
  require(path.kept() == path.target().observed(),
          "raise needs data that fill one of the two blocks of layers: all hidden layers must be "
          "summed out");
  const std::int64_t count = rows.rows();
  const at::Tensor row_of = at::arange(count, path.target().options(at::kLong)).repeat_interleave(chains);
  const auto start = [&](std::int64_t first, std::int64_t size, const Key&) {
    State state;
    state.layers.resize(path.target().layers().size());
    for (const std::size_t layer : path.kept())
      state.layers[layer] =
          rows.layers[layer].index_select(0, row_of.narrow(0, first, size)).to(path.target().scalar_type());
    return state;
  };
  const at::Tensor log_weights = anneal(path, Way::down, count * chains, start, options).reshape({count, chains});
  return raise_of_weights(log_weights, on_cpu(log_unnormalized(path.target(), rows)), path.base().log_z(), path.steps(),
                          options.seed);
}

}  // namespace harmonium
