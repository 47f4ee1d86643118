// How a mixture of factor analysers begins: initialize() of factor_analyzers.h.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/mixture/factor_analyzers.h"

namespace harmonium {

namespace {

// k-means++ (Arthur & Vassilvitskii 2007): every seed is a row drawn by its squared distance from those before it.
at::Tensor seeds_far_apart(const Key& key, const at::Tensor& rows, std::int64_t count) {
  const at::Tensor u = uniform(key, {count}, at::kDouble);
  at::Tensor distance = at::ones({rows.size(0)}, rows.options());
  std::vector<at::Tensor> seeds;
  for (std::int64_t i = 0; i < count; ++i) {
    const at::Tensor sums = distance.cumsum(0), total = sums[-1];
    const at::Tensor place =
        at::searchsorted(sums, (u[i].to(rows.device()) * total).view({1}), /*out_int32=*/false, /*right=*/true)
            .clamp_max(rows.size(0) - 1);
    seeds.push_back(rows.index_select(0, place));
    const at::Tensor from = (rows - seeds.back()).square().sum(1);
    distance = i == 0 ? from : at::minimum(distance, from);
  }
  return at::cat(seeds);
}

at::Tensor nearest_of(const at::Tensor& rows, const at::Tensor& means) {
  return (means.square().sum(1) - 2 * rows.mm(means.t())).argmin(1);
}

}  // namespace

void initialize(FactorAnalyzers& mixture, const Key& key, const at::Tensor& rows, double smoothing) {
  const std::int64_t M = mixture.count(), N = mixture.inputs(), q = mixture.factors();
  require(rows.dim() == 2 && rows.size(0) >= 1 && rows.size(1) == N,
          "factor analysers of {} inputs begin from rows of as many values", N);
  constexpr int rounds = 5;
  constexpr std::int64_t most_rows = 2000;
  constexpr double least_variance = 1e-2, noise_of_loadings = 0.01;
  const at::Tensor x = rows.to(mixture.parameters()["share"].options().dtype(at::kDouble));
  at::Tensor means = seeds_far_apart(key.fold_in(0), x, M), cluster;
  for (int round = 0; round < rounds; ++round) {
    cluster = nearest_of(x, means);
    for (std::int64_t m = 0; m < M; ++m)
      if (const at::Tensor own = cluster.eq(m).nonzero().squeeze(1); own.size(0) > 0)
        means[m].copy_(x.index_select(0, own).mean(0));
  }
  cluster = nearest_of(x, means);
  // Directions of what all rows leave over: clusters of their own would have too few rows for them, and EM soon tells
  // the components apart. Noise, for directions that few rows do not have.
  const at::Tensor e = x - means.index_select(0, cluster), some = e.narrow(0, 0, std::min(most_rows, e.size(0)));
  const at::Tensor directions = std::get<2>(at::linalg_svd(some, /*full_matrices=*/false)),
                   lengths = some.mm(directions.t()).square().mean(0).sqrt();
  const std::int64_t found = std::min(q, lengths.size(0));
  FactorAnalyzers::Components start{
      .shares = (at::bincount(cluster, {}, M).to(at::kDouble) + 1) / static_cast<double>(x.size(0) + M),
      .means = means,
      .loadings = noise_of_loadings * normal(key.fold_in(1), {M, N, q}, x.options()),
      .noise = {}};
  start.loadings.narrow(2, 0, found).add_(directions.narrow(0, 0, found).t() * lengths.narrow(0, 0, found));
  start.noise = e.square().mean(0) - start.loadings.square().sum(2);
  start.noise.clamp_min_(std::max(least_variance, mixture.floor()));
  mixture.parameters().copy_(mixture.expected_statistics(start, x, smoothing).statistics);
}

}  // namespace harmonium
