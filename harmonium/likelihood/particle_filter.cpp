#include "harmonium/likelihood/particle_filter.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// Particle numbers, independent draws by the weights of each sequence: sequences × particles.
at::Tensor multinomial_ancestors(const at::Tensor& weights, const Key& key) {
  const at::Tensor cumulative = weights.cumsum(1);
  const at::Tensor u = uniform(key, weights.sizes(), weights.options()) * cumulative.narrow(1, weights.size(1) - 1, 1);
  return at::searchsorted(cumulative, u, /*out_int32=*/false, /*right=*/true).clamp_max(weights.size(1) - 1);
}

}  // namespace

FilteredSequences particle_filter(ParticleWalk& walk, const std::vector<std::int64_t>& alive,
                                  const ParticleFilterOptions& options, const Key& key) {
  const std::int64_t K = options.particles;
  require(K >= 1, "a particle filter needs particles, not {}", K);
  require(!alive.empty() && alive.back() >= 1 && std::ranges::is_sorted(alive, std::ranges::greater{}),
          "a particle filter takes sequences that stand longest first");
  FilteredSequences result{.increments = {}, .log_p = {}, .least_effective = static_cast<double>(K)};
  std::vector<at::Tensor> increments;
  at::Tensor log_weights;  // sequences × particles, normalized
  for (std::size_t t = 0; t < alive.size(); ++t) {
    const Key own = key.fold_in(t);
    const at::Tensor log_w = walk.step(static_cast<std::int64_t>(t), own.fold_in(0)).view({alive[t], K});
    if (t == 0) {
      log_weights = at::full({alive.front(), K}, -std::log(static_cast<double>(K)), log_w.options());
      result.log_p = at::zeros({alive.front()}, log_w.options());
    }
    log_weights = log_weights.narrow(0, 0, alive[t]) + log_w;
    increments.push_back(at::logsumexp(log_weights, 1));
    result.log_p.narrow(0, 0, alive[t]).add_(increments.back());
    log_weights = log_weights - increments.back().unsqueeze(1);
    if (t + 1 == alive.size()) break;

    const at::Tensor weights = log_weights.narrow(0, 0, alive[t + 1]).exp();
    const at::Tensor effective = weights.square().sum(1).reciprocal();
    result.least_effective = std::min(result.least_effective, effective.min().item<double>());
    const at::Tensor uneven = effective.lt(options.threshold * static_cast<double>(K));
    const auto count = uneven.sum().item<std::int64_t>();
    if (count == 0) continue;
    result.resampled += count;
    const at::Tensor same = at::arange(K, weights.options().dtype(at::kLong));
    at::Tensor ancestors = multinomial_ancestors(weights, own.fold_in(1));
    if (options.held) ancestors.select(1, 0).zero_();
    ancestors = at::where(uneven.unsqueeze(1), ancestors, same);
    const at::Tensor first = K * at::arange(alive[t + 1], same.options());
    walk.resample((ancestors + first.unsqueeze(1)).view({-1}));
    log_weights =
        log_weights.narrow(0, 0, alive[t + 1]).masked_fill(uneven.unsqueeze(1), -std::log(static_cast<double>(K)));
  }
  result.increments = at::cat(increments);
  return result;
}

}  // namespace harmonium
