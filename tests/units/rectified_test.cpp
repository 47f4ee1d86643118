// Half lines at their ends, and noisy rectified units beside the stepped units they imitate.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/units/drelu.h"
#include "harmonium/units/half_line.h"
#include "harmonium/units/nrelu.h"
#include "harmonium/units/poisson.h"
#include "harmonium/units/relu.h"
#include "harmonium/units/spike_slab.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;

// Far below zero h is exponential with rate |f|. The series of Mills' ratio gives, with c = γ/f²,
// |f| E[h] = 1 − 2c + 10c² − 74c³ + …, f² E[h²] = 2 (1 − 5c + 37c² − …), log-integral −log |f| − c + ….
TEST(HalfLine, IsExponentialFarBelowZero) {
  const at::Tensor field = -at::pow(10, at::arange(2, 9, at::kDouble)), rate = -field;
  const HalfLine h = half_line(field, at::full({1}, 2.0, at::kDouble));
  const at::Tensor correction = 2.0 / rate.square();
  expect_close(h.first * rate, 1 - 2 * correction + 10 * correction.square() - 74 * correction.pow(3), 1e-11);
  expect_close(h.second * rate.square(), 2 * (1 - 5 * correction + 37 * correction.square()), 1e-8);
  expect_close(h.log_integral, -rate.log() - correction, 1e-6);
  for (const at::Tensor& each : {h.first, h.second, h.log_integral}) EXPECT_TRUE(each.isfinite().all().item<bool>());
}

TEST(HalfLine, IsNormalFarAboveZero) {
  const at::Tensor field = at::tensor({40.0, 1e3, 1e6}, at::kDouble), precision = at::full({1}, 2.0, at::kDouble);
  const HalfLine h = half_line(field, precision);
  expect_close(h.first, field / 2, 1e-12);
  expect_close(h.second, field.square() / 4 + 0.5, 1e-12);
  expect_close(h.log_integral, field.square() / 4 + 0.5 * std::log(M_PI), 1e-12);
}

// Kolmogorov–Smirnov of draws against the distribution function, at fields from deep below zero to far above it; 2.7 /
// √n is passed with probability 1e-6. P(h > x) is the ratio of two half-line integrals: that above x is e^{fx − ½γx²}
// times the one with field f − γx.
TEST(HalfLine, IsDrawnByItsDistributionFunction) {
  constexpr std::int64_t draws = 40'000;
  for (const double f : {-3e6, -2000.0, -60.0, -39.0, -8.0, -1.0, 0.0, 2.0, 30.0}) {
    const at::Tensor field = at::full({draws}, f, at::kDouble), precision = at::full({draws}, 1.7, at::kDouble);
    const at::Tensor x = std::get<0>(draw_half_line(uniform(Key(71), {draws}, at::kDouble), field, precision).sort());
    const at::Tensor beyond = (f * x - 0.5 * 1.7 * x * x + half_line(field - 1.7 * x, precision).log_integral -
                               half_line(field, precision).log_integral)
                                  .exp();
    const at::Tensor place = (at::arange(draws, at::kDouble) + 0.5) / static_cast<double>(draws);
    EXPECT_LT((1 - beyond - place).abs().max().item<double>(), 2.7 / std::sqrt(static_cast<double>(draws))) << f;
  }
}

TEST(NRelu, ImitatesSteppedUnits) {
  const at::Tensor field = at::arange(-60, 200, at::kDouble).unsqueeze(1) * 0.1;
  const NRelu noisy(1);
  const auto exact = noisy.stands_for();
  ASSERT_EQ(exact->spec(), "stepped:1");
  EXPECT_LT((noisy.mean(field, {}) - exact->mean(field, {})).abs().max().item<double>(), 0.0107);
  const at::Tensor variance = exact->expected_square(field, {}) - exact->mean(field, {}).square();
  EXPECT_LT((variance - field.sigmoid()).abs().max().item<double>(), 0.0043);
  expect_close(noisy.log_partition(field, {}), exact->log_partition(field, {}), 0);
  const at::Tensor drawn = noisy.sample(Key(72), at::full({100'000, 1}, 5.0, at::kDouble), {});
  EXPECT_GE(drawn.min().item<double>(), 0);
  // Cut at zero hardly ever there: mean 5, variance σ(5); 5.5 standard errors.
  EXPECT_NEAR(drawn.mean().item<double>(), 5, 5.5 / std::sqrt(1e5));
}

TEST(SpikeSlab, IsOffWhereTheSpikeIsLessProbable) {
  const SpikeSlab unit(2);
  Unit::Parameters parameters = unit.neutral_parameters(at::kDouble);
  parameters[2][0] = -10;
  parameters[2][1] = 10;
  const at::Tensor mode = unit.mode(at::full({1, 2}, 0.8, at::kDouble), parameters);
  EXPECT_EQ(mode[0][0].item<double>(), 0);
  EXPECT_EQ(mode[0][1].item<double>(), 0.8);
}

// Chi-square over the counts that are expected ten times or more, false-alarm rate 1e-6: small rates are searched from
// zero, large ones by halving.
TEST(Poisson, IsDrawnWithItsProbabilities) {
  constexpr std::int64_t draws = 50'000;
  for (const double rate : {0.3, 4.0, 99.0, 101.0, 2500.0}) {
    const at::Tensor x = Poisson(1).sample(Key(73), at::full({draws, 1}, std::log(rate), at::kDouble), {});
    support::Row counts, probabilities;
    double rest = 1, seen = 0;
    const double reach = 7 * std::sqrt(rate) + 5;
    for (double n = std::max(0.0, std::floor(rate - reach)); n < rate + reach; ++n) {
      probabilities.push_back(std::exp(n * std::log(rate) - rate - std::lgamma(n + 1)));
      counts.push_back(x.eq(n).sum().item<double>());
      rest -= probabilities.back();
      seen += counts.back();
    }
    probabilities.push_back(std::max(0.0, rest));
    counts.push_back(static_cast<double>(draws) - seen);
    support::expect_frequencies(counts, probabilities);
  }
  EXPECT_TRUE(Poisson(1).sample(Key(74), at::full({10, 1}, 1e4, at::kDouble), {}).isfinite().all().item<bool>());
}

TEST(Rectified, UnitsComplainAboutWhatTheyCannotBe) {
  const at::Tensor negative = at::full({1, 2}, -0.5);
  support::expect_mentions(Relu(2).complaint(negative), {"row 0", "column 0", "-0.5", "0 or more"});
  support::expect_mentions(Poisson(2).complaint(negative), {"counts"});
  EXPECT_EQ(DRelu(2).complaint(negative), "");
}

}  // namespace
}  // namespace harmonium
