#include "harmonium/distributions/mixture.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

// Two variables of three components, the last column far below the floor. Midpoints: exact for these Gaussians, while
// a peak of a Laplace density in a cell costs up to (step/σ)²/12 of its mass.
TEST(MixtureDistribution, IntegratesToOneAndDrawsItsOwnLaw) {
  constexpr std::int64_t count = 100000;
  const at::Tensor raw = at::tensor(std::vector<double>{0.3, -1, 0.5, -1, 0.2, 1.5, 0.1, -0.4, 0.3,  //
                                                        0, 1, -2, 0.4, 1.1, -0.6, -0.5, 0.2, -9},
                                    at::kDouble);
  const at::Tensor mean = at::tensor(
      std::vector<double>{(std::exp(0.3) * -1 + std::exp(-1.0) * 0.2 + std::exp(0.5) * 1.5) /
                              (std::exp(0.3) + std::exp(-1.0) + std::exp(0.5)),
                          (0.4 + std::exp(1.0) * 1.1 - std::exp(-2.0) * 0.6) / (1 + std::exp(1.0) + std::exp(-2.0))},
      at::kDouble);
  constexpr double fine = 0.01;
  const at::Tensor axis = at::arange(-4000, 4000, at::kDouble) * fine + fine / 2;
  for (const auto& type : {"gaussian_mixture:2x3:0.2", "laplace_mixture:2x3:0.2"}) {
    SCOPED_TRACE(type);
    const auto distribution = make_distribution(type);
    EXPECT_EQ(distribution->spec(), type);
    const bool smooth = std::string(type).starts_with("gaussian");
    const at::Tensor density =
        distribution->log_prob_each(axis.unsqueeze(1).expand({-1, 2}), raw).exp() * fine;  // points × variables
    support::expect_close(density.sum(0), at::ones({2}, at::kDouble), smooth ? 1e-12 : 3e-4);
    support::expect_close(distribution->mean(raw), mean, 1e-12);
    support::expect_close((density * axis.unsqueeze(1)).sum(0), mean, smooth ? 1e-12 : 3e-4);
    const at::Tensor drawn = distribution->sample(Key(4), raw.expand({count, 18}));
    support::expect_mean(drawn, mean);
    // Cells of equal probability by the quadrature: false alarms 1e-6.
    constexpr std::int64_t bins = 20;
    for (std::int64_t column = 0; column < 2; ++column) {
      const at::Tensor below = density.select(1, column).cumsum(0);
      const at::Tensor ends =
          axis.index_select(0, at::searchsorted(below, at::arange(1, bins, at::kDouble) / bins)) + fine / 2;
      const at::Tensor cell = at::searchsorted(ends, drawn.select(1, column).contiguous());
      support::Row wanted;
      double before = 0;
      for (std::int64_t bin = 0; bin < bins; ++bin) {
        const double upto =
            bin + 1 == bins ? 1 : density.select(1, column).index({axis.lt(ends[bin])}).sum().item<double>();
        wanted.push_back(upto - before);
        before = upto;
      }
      support::expect_frequencies(support::numbers(at::bincount(cell, {}, bins)), wanted);
    }
  }
  EXPECT_THROW((void)make_distribution("gaussian_mixture:7"), Error);
  EXPECT_THROW((void)make_distribution("gaussian_mixture:2x3:0"), Error);
  EXPECT_THROW((void)make_distribution("gaussian_mixture:2x5000"), Error);
}

}  // namespace
}  // namespace harmonium
