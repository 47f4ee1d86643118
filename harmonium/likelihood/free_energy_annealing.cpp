#include "harmonium/likelihood/free_energy_annealing.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/likelihood/weights.h"
#include "harmonium/samplers/hmc.h"

namespace harmonium {

namespace {

// Chains on their way: all that is needed to go on after any step.
struct EnergyCrowd {
  at::Tensor v, log_weights;
  std::int64_t step = 0;

  [[nodiscard]] NamedTensors tensors() const {
    return {{"step", at::scalar_tensor(step, at::kLong)}, {"log_weights", log_weights}, {"v", v}};
  }
  // False, with nothing changed, where the tensors are not those of these chains.
  [[nodiscard]] bool restore(const NamedTensors& saved, std::int64_t steps) {
    at::Tensor values, weights, done;
    for (const auto& [name, value] : saved) {
      if (name == "v" && value.sizes() == v.sizes() && value.scalar_type() == at::kDouble) values = value;
      if (name == "log_weights" && value.sizes() == log_weights.sizes() && value.scalar_type() == at::kDouble)
        weights = value;
      if (name == "step" && value.numel() == 1 && value.scalar_type() == at::kLong) done = value;
    }
    if (!values.defined() || !weights.defined() || !done.defined()) return false;
    const auto at_step = done.item<std::int64_t>();
    if (at_step < 0 || at_step > steps || !at::isfinite(values).all().item<bool>()) return false;
    v = values.clone();
    log_weights = weights.clone();
    step = at_step;
    return true;
  }
};

at::Tensor walk_path(const FreeEnergyPath& path, Way way, const at::Tensor& start, std::int64_t betas,
                     const AnnealingOptions& options) {
  require(start.size(0) >= 1 && betas >= 1, "annealing needs at least one chain and one step, not {} and {}",
          start.size(0), betas);
  const Key key = Key(options.seed).fold_in(way == Way::up ? 0xA15 : 0x4A15E);
  const auto beta = [&](std::int64_t k) { return static_cast<double>(k) / static_cast<double>(betas); };
  const auto log_f = [&](const at::Tensor& v, std::int64_t k) {
    return path.model().log_f(v, path.parameters(), beta(k));
  };
  EnergyCrowd crowd{.v = start.clone(), .log_weights = at::zeros({start.size(0)}, at::kDouble)};
  const auto kept = options.journal != nullptr ? options.journal->find(options.name) : std::nullopt;
  if (kept) (void)crowd.restore(*kept, betas);
  const auto keep = [&] {
    if (options.journal != nullptr) options.journal->keep(options.name, crowd.tensors());
  };
  try {
    while (crowd.step < betas) {
      const Key own = key.fold_in(static_cast<std::uint64_t>(crowd.step));
      const std::int64_t k = way == Way::up ? crowd.step + 1 : betas - crowd.step;
      if (way == Way::up) crowd.log_weights += log_f(crowd.v, k) - log_f(crowd.v, k - 1);
      path.move(crowd.v, beta(k), own);
      if (way == Way::down) crowd.log_weights += log_f(crowd.v, k - 1) - log_f(crowd.v, k);
      ++crowd.step;
      if (options.journal != nullptr && (crowd.step == betas || options.journal->due())) keep();
      if (options.progress) options.progress(crowd.step, betas);
    }
  } catch (const RunFailure&) {  // how a caller stops the work
    keep();
    throw;
  }
  return crowd.log_weights;
}

Estimate energy_estimate(const at::Tensor& log_weights, std::int64_t betas, std::uint64_t seed) {
  const Interval interval = bootstrap_log_mean_exp(log_weights, Key(seed).fold_in(0xB007));
  const WeightDiagnostics weights = diagnose(log_weights);
  return {.value = log_mean_exp(log_weights),
          .low = interval.low,
          .high = interval.high,
          .kind = EstimateKind::unbiased_estimate,
          .method = "ais",
          .chains = log_weights.size(0),
          .betas = betas,
          .effective_samples = weights.effective_samples,
          .largest_weight = weights.largest_share,
          .pareto_k = weights.pareto_k};
}

}  // namespace

FreeEnergyPath::FreeEnergyPath(const FreeEnergyModel& model, const Moments& theta, std::uint64_t seed)
    : model_(model), theta_(theta.to(at::TensorOptions(at::kCPU).dtype(at::kDouble))) {
  constexpr int places = 20;
  constexpr std::int64_t pilots = 100;
  const Key key = Key(seed).fold_in(0x9170);
  at::Tensor v = draw_base(key.fold_in(0), pilots);
  double found = 0.5;
  for (int place = 0; place <= places; ++place) {
    const double beta = static_cast<double>(place) / places;
    found = find_hmc_step(hmc_target(model_, theta_, beta), v, found, leapfrog,
                          key.fold_in(1).fold_in(static_cast<std::uint64_t>(place)));
    steps_.push_back(found);
  }
}

double FreeEnergyPath::step(double beta) const {
  const double place = beta * static_cast<double>(steps_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), steps_.size() - 2);
  return std::lerp(steps_[below], steps_[below + 1], place - static_cast<double>(below));
}

void FreeEnergyPath::move(at::Tensor& v, double beta, const Key& key) const {
  (void)hmc(hmc_target(model_, theta_, beta), v, step(beta), leapfrog, key);
}

AisResult ais(const FreeEnergyPath& path, std::int64_t chains, std::int64_t betas, const AnnealingOptions& options) {
  AisResult result;
  const at::Tensor start = path.draw_base(Key(options.seed).fold_in(0xBA5E), chains);
  result.log_weights = walk_path(path, Way::up, start, betas, options) + path.base_log_z();
  result.log_z = energy_estimate(result.log_weights, betas, options.seed);
  return result;
}

AisResult reverse_ais(const FreeEnergyPath& path, const at::Tensor& samples, std::int64_t betas,
                      const AnnealingOptions& options) {
  // In the shape of forward weights, Z / Z_0 = 1 / E[w]: everything about them carries over with the sign turned.
  const at::Tensor log_weights = walk_path(path, Way::down, samples.to(at::kDouble), betas, options);
  AisResult result;
  result.log_z = energy_estimate(log_weights, betas, options.seed);
  result.log_z.kind = EstimateKind::upper_bound;
  result.log_z.method = "reverse ais";
  const double base = path.base_log_z(), low = base - result.log_z.high;
  result.log_z.value = base - result.log_z.value;
  result.log_z.high = base - result.log_z.low;
  result.log_z.low = low;
  result.log_weights = base - log_weights;
  return result;
}

RaiseResult raise(const FreeEnergyPath& path, const at::Tensor& rows, std::int64_t chains, std::int64_t betas,
                  const AnnealingOptions& options) {
  require(rows.size(0) >= 1 && chains >= 1, "raise needs at least one row and one chain for each, not {} and {}",
          rows.size(0), chains);
  const at::Tensor start = rows.to(at::kDouble);
  const at::Tensor log_weights =
      walk_path(path, Way::down, start.repeat_interleave(chains, 0), betas, options).view({rows.size(0), chains});
  return raise_of_weights(log_weights, path.model().log_f(start, path.parameters(), 1), path.base_log_z(), betas,
                          options.seed);
}

}  // namespace harmonium
