#include "harmonium/samplers/hmc.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double diverged_beyond = 1000;  // nats of energy
constexpr double hmc_jitter = 0.2;

at::Tensor kinetic(const at::Tensor& p) { return 0.5 * p.square().sum(1, /*keepdim=*/false, at::kDouble); }

}  // namespace

HmcTarget hmc_target(const FreeEnergyModel& model, const Moments& theta, double beta) {
  return {.log_f = [&model, &theta, beta](const at::Tensor& v) { return model.log_f(v, theta, beta); },
          .score = [&model, &theta, beta](const at::Tensor& v) { return model.score(v, theta, beta); }};
}

void leapfrog_(const HmcTarget& target, at::Tensor& v, at::Tensor& p, const at::Tensor& steps, std::int64_t leapfrog) {
  p.addcmul_(steps, target.score(v), 0.5);
  for (std::int64_t i = 0; i < leapfrog; ++i) {
    v.addcmul_(steps, p);
    p.addcmul_(steps, target.score(v), i + 1 < leapfrog ? 1.0 : 0.5);
  }
}

HmcDraws hmc_draws(const Key& key, std::int64_t rows, std::int64_t width, const at::TensorOptions& options) {
  return {.momenta = normal(key.fold_in(0), {rows, width}, options),
          .lengths = uniform(key.fold_in(1), {rows, 1}, options),
          .decisions = uniform(key.fold_in(2), {rows}, options.dtype(at::kDouble))};
}

HmcOutcome hmc(const HmcTarget& target, at::Tensor& v, double step, std::int64_t leapfrog, const Key& key) {
  return hmc(target, v, step, leapfrog, hmc_draws(key, v.size(0), v.size(1), v.options()));
}

HmcOutcome hmc(const HmcTarget& target, at::Tensor& v, double step, std::int64_t leapfrog, const HmcDraws& draws) {
  require(step > 0 && leapfrog >= 1, "HMC needs a positive step and at least one leapfrog step, not {} and {}", step,
          leapfrog);
  at::Tensor p = draws.momenta.clone(), moved = v.clone();
  const at::Tensor steps = step * (1 - hmc_jitter + 2 * hmc_jitter * draws.lengths);
  const at::Tensor before = kinetic(p) - target.log_f(v);
  leapfrog_(target, moved, p, steps, leapfrog);
  HmcOutcome outcome;
  outcome.energy_change = kinetic(p) - target.log_f(moved) - before;
  const at::Tensor divergent =
      at::isfinite(outcome.energy_change).logical_not().logical_or(outcome.energy_change.abs().gt(diverged_beyond));
  const at::Tensor accepted = draws.decisions.log().lt(-outcome.energy_change).logical_and(divergent.logical_not());
  v = at::where(accepted.unsqueeze(1), moved, v);
  outcome.accepted = accepted.to(at::kDouble).mean().item<double>();
  outcome.divergences = divergent.sum().item<std::int64_t>();
  return outcome;
}

void HmcStep::observe(double accepted, double target) {
  acceptance = 0.9 * acceptance + 0.1 * accepted;
  step = std::clamp(step * (acceptance > target ? 1.01 : 0.99), least, most);
}

double find_hmc_step(const HmcTarget& target, at::Tensor& v, double start, std::int64_t leapfrog, const Key& key,
                     double wanted, int rounds) {
  constexpr double shortest = 1e-5, longest = 1.5;
  double log_step = std::log(start);
  for (int round = 0; round < rounds; ++round) {
    const HmcOutcome found =
        hmc(target, v, std::exp(log_step), leapfrog, key.fold_in(static_cast<std::uint64_t>(round)));
    // Between −1 and 1 wherever `wanted` lies, so that a start a hundred times too short or too long is left behind.
    const double excess = found.accepted - wanted, sides = excess > 0 ? 1 - wanted : wanted;
    log_step += std::pow(1.0 + round, -0.6) * excess / sides;
    log_step = std::clamp(log_step, std::log(shortest), std::log(longest));
  }
  return std::exp(log_step);
}

}  // namespace harmonium
