#include "harmonium/likelihood/bootstrap.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

double log_mean_exp(const at::Tensor& log_weights) {
  require(log_weights.dim() == 1 && log_weights.size(0) > 0, "log_mean_exp needs at least one weight");
  return at::logsumexp(log_weights.to(at::kDouble), 0).item<double>() -
         std::log(static_cast<double>(log_weights.size(0)));
}

double effective_sample_size(const at::Tensor& log_weights) {
  const at::Tensor x = log_weights.to(at::kDouble);
  return std::exp(2 * at::logsumexp(x, 0).item<double>() - at::logsumexp(2 * x, 0).item<double>());
}

namespace {

constexpr std::int64_t resamples_at_once = 50;  // so that many chains need little memory

// Rows of draws with replacement.
at::Tensor resampled(const at::Tensor& values, const Key& key, std::int64_t rows) {
  const std::int64_t n = values.size(0);
  const at::Tensor u = uniform(key, {rows, n}, at::kDouble);
  const at::Tensor chosen = (u * static_cast<double>(n)).to(at::kLong).clamp_max_(n - 1);
  return values.index_select(0, chosen.reshape({-1})).reshape(chosen.sizes());
}

// Means of `resamples` draws with replacement, sorted.
at::Tensor resampled_means(const at::Tensor& values, const Key& key, std::int64_t resamples) {
  std::vector<at::Tensor> means;
  for (std::int64_t done = 0; done < resamples; done += resamples_at_once)
    means.push_back(
        resampled(values, key.fold_in(static_cast<std::uint64_t>(done)), std::min(resamples_at_once, resamples - done))
            .mean(1));
  return std::get<0>(at::sort(at::cat(means)));
}

Interval percentiles(const at::Tensor& sorted, double coverage) {
  const auto at_fraction = [&](double fraction) {
    const auto place = std::lround(fraction * static_cast<double>(sorted.size(0) - 1));
    return sorted[static_cast<std::int64_t>(place)].item<double>();
  };
  return {at_fraction((1 - coverage) / 2), at_fraction((1 + coverage) / 2)};
}

}  // namespace

Interval bootstrap_log_mean_exp(const at::Tensor& log_weights, const Key& key, double coverage,
                                std::int64_t resamples) {
  const double shift = log_weights.max().item<double>();
  const at::Tensor weights = (log_weights.to(at::kDouble) - shift).exp();
  return percentiles(resampled_means(weights, key, resamples).log() + shift, coverage);
}

Interval bootstrap_mean(const at::Tensor& values, const Key& key, double coverage, std::int64_t resamples) {
  return percentiles(resampled_means(values.to(at::kDouble), key, resamples), coverage);
}

Interval bootstrap_pair(const at::Tensor& one, const at::Tensor& other, PairStatistic statistic, const Key& key,
                        double coverage, std::int64_t resamples) {
  std::vector<at::Tensor> found;
  for (std::int64_t done = 0; done < resamples; done += resamples_at_once) {
    const Key own = key.fold_in(static_cast<std::uint64_t>(done));
    const std::int64_t rows = std::min(resamples_at_once, resamples - done);
    found.push_back(statistic(resampled(one, own.fold_in(0), rows), resampled(other, own.fold_in(1), rows)));
  }
  return percentiles(std::get<0>(at::sort(at::cat(found))), coverage);
}

}  // namespace harmonium
