#include "harmonium/likelihood/ais.h"

#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/likelihood/weights.h"

namespace harmonium {

namespace {

Estimate estimate_of(const at::Tensor& log_weights, const AnnealingPath& path, const AnnealingOptions& options) {
  const Interval interval = bootstrap_log_mean_exp(log_weights, Key(options.seed).fold_in(0xB007));
  const WeightDiagnostics weights = diagnose(log_weights);
  return {.value = log_mean_exp(log_weights),
          .low = interval.low,
          .high = interval.high,
          .kind = EstimateKind::unbiased_estimate,
          .method = "ais",
          .chains = log_weights.size(0),
          .betas = path.steps(),
          .effective_samples = weights.effective_samples,
          .largest_weight = weights.largest_share,
          .pareto_k = weights.pareto_k};
}

}  // namespace

AisResult ais(const AnnealingPath& path, std::int64_t chains, const AnnealingOptions& options) {
  AisResult result;
  result.log_weights =
      anneal(
          path, Way::up, chains,
          [&](std::int64_t, std::int64_t count, const Key& key) { return path.base().draw(key, count); }, options) +
      path.base().log_z();
  result.log_z = estimate_of(result.log_weights, path, options);
  return result;
}

AisResult reverse_ais(const AnnealingPath& path, const State& samples, const AnnealingOptions& options) {
  const auto start = [&](std::int64_t first, std::int64_t count, const Key&) {
    State state;
    state.layers.resize(path.target().layers().size());
    for (const std::size_t layer : path.kept()) state.layers[layer] = samples.layers[layer].narrow(0, first, count);
    return state;
  };
  // In the shape of forward weights, Z / Z_0 = 1 / E[w]: everything about them carries over with the sign turned.
  const at::Tensor log_weights = anneal(path, Way::down, samples.rows(), start, options);
  AisResult result;
  result.log_z = estimate_of(log_weights, path, options);
  result.log_z.kind = EstimateKind::upper_bound;
  result.log_z.method = "reverse ais";
  result.log_z.value = path.base().log_z() - result.log_z.value;
  const double low = path.base().log_z() - result.log_z.high;
  result.log_z.high = path.base().log_z() - result.log_z.low;
  result.log_z.low = low;
  result.log_weights = path.base().log_z() - log_weights;
  return result;
}

Estimate average_bound(const AisResult& reverse, std::uint64_t seed) {
  Estimate bound = reverse.log_z;
  const Interval interval = bootstrap_mean(reverse.log_weights, Key(seed).fold_in(0xB009));
  bound.value = reverse.log_weights.mean().item<double>();
  bound.low = interval.low;
  bound.high = interval.high;
  return bound;
}

AisResult ais(const BoltzmannMachine& machine, const Moments& base, const AisOptions& options,
              const Progress& progress) {
  const AnnealingPath path({machine.with_parameters(base), "given"}, {machine},
                           options.schedule.empty() ? linear_schedule(options.betas) : options.schedule);
  return ais(path, options.chains,
             {.chains_at_once = options.chains_at_once, .seed = options.seed, .progress = progress});
}

}  // namespace harmonium
