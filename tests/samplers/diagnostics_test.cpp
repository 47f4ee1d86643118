// Autocorrelation times of series whose time is known in closed form.
#include "harmonium/samplers/diagnostics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/samplers/tempering_machines.h"

namespace harmonium {
namespace {

// x_t = ρ x_{t−1} + noise, started in equilibrium; its time is (1+ρ)/(1−ρ).
at::Tensor autoregressive(double rho, std::int64_t chains, std::int64_t steps, std::uint64_t seed) {
  const at::Tensor noise = normal(Key(seed), {steps, chains}, at::kDouble) * std::sqrt(1 - rho * rho);
  std::vector<at::Tensor> x = {noise[0] / std::sqrt(1 - rho * rho)};
  for (std::int64_t t = 1; t < steps; ++t) x.push_back(rho * x.back() + noise[t]);
  return 3 + 2 * at::stack(x, 1);
}

// The estimate's relative standard error is about √(2 (2·3τ + 1) / n) (Sokal 1997): five of them are allowed, and the
// sequence's own bias of a few per cent. False-alarm rate below 1e-5 each.
TEST(AutocorrelationTime, OfAnAutoregressiveSeriesIsKnown) {
  const support::ThreadCount one_thread(1);
  for (const double rho : {0.0, 0.5, 0.9, 0.97})
    for (const std::int64_t chains : {1, 20}) {
      SCOPED_TRACE(rho);
      const std::int64_t steps = 40'000 / chains;
      const double expected = (1 + rho) / (1 - rho),
                   found = autocorrelation_time(autoregressive(rho, chains, steps, 601));
      const double relative = std::sqrt(2 * (6 * expected + 1) / 40'000);
      EXPECT_NEAR(found / expected, 1, 5 * relative + 0.05) << found;
      RecordProperty("time_" + std::to_string(static_cast<int>(100 * rho)) + "_" + std::to_string(chains),
                     std::to_string(found) + " of " + std::to_string(expected));
    }
}

TEST(AutocorrelationTime, IsNeverBelowOneStep) {
  // Negative correlations would give less than one step; no more is claimed than independent samples.
  EXPECT_NEAR(autocorrelation_time(autoregressive(-0.5, 4, 5000, 602)), 1, 0.1);
}

TEST(AutocorrelationTime, IsLongWhenChainsStayInDifferentPlaces) {
  at::Tensor series = autoregressive(0.0, 4, 1000, 603);
  EXPECT_GT(effective_samples(series), 3000);
  series[0] += 20;
  EXPECT_LT(effective_samples(series), 40);
}

// A fair coin each step against a Gibbs chain in a machine with two modes: the same helper tells them apart.
TEST(AutocorrelationTime, SeesAChainThatIsStuck) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::two_modes();
  State state = support::all_off(machine, 10);
  for (at::Tensor& layer : state.layers) layer.narrow(0, 0, 5).fill_(1);
  std::vector<at::Tensor> on;
  for (std::uint64_t step = 0; step < 200; ++step) {
    gibbs(machine, state, Key(604).fold_in(step));
    on.push_back(support::is_on(state));
  }
  EXPECT_LT(effective_samples(at::stack(on, 1)), 40);
  EXPECT_EQ(effective_samples(at::ones({3, 100})), 1) << "a series that never changes";
}

TEST(EffectiveSamples, AreCountedByTheSecond) {
  const at::Tensor series = autoregressive(0.5, 2, 3000, 605);
  EXPECT_DOUBLE_EQ(effective_samples(series), 6000 / autocorrelation_time(series));
  EXPECT_DOUBLE_EQ(effective_samples_per_second(series, 4), effective_samples(series) / 4);
  EXPECT_THROW(static_cast<void>(effective_samples_per_second(series, 0)), Error);
  EXPECT_THROW(static_cast<void>(autocorrelation_time(at::ones({3}))), Error);
  EXPECT_THROW(static_cast<void>(autocorrelation_time(at::full({3, 10}, std::nan("")))), Error);
}

}  // namespace
}  // namespace harmonium
