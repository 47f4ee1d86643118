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

// Means of `resamples` draws with replacement, sorted.
at::Tensor resampled_means(const at::Tensor& values, const Key& key, std::int64_t resamples) {
  const std::int64_t n = values.size(0);
  std::vector<at::Tensor> means;
  constexpr std::int64_t block = 50;  // resamples at a time, so that many chains need little memory
  for (std::int64_t done = 0; done < resamples; done += block) {
    const at::Tensor u =
        uniform(key.fold_in(static_cast<std::uint64_t>(done)), {std::min(block, resamples - done), n}, at::kDouble);
    const at::Tensor chosen = (u * static_cast<double>(n)).to(at::kLong).clamp_max_(n - 1);
    means.push_back(values.index_select(0, chosen.reshape({-1})).reshape(chosen.sizes()).mean(1));
  }
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

}  // namespace harmonium
