// Statistical comparisons with their false-alarm rates. Seeds are fixed, so a test that passes once passes always; the
// rates say how unlikely it was that a correct program would have needed another seed.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harmonium/kernels/random.h"
#include "tests/support/brute_force.h"

namespace harmonium::support {

// A normal variable leaves ±5.5 standard deviations with probability 3.8e-8: with a few dozen comparisons a test has a
// false-alarm rate of about 1e-6.
inline constexpr double allowed_deviations = 5.5;

// Chi-square of counts against probabilities, false-alarm rate 1e-6 (Wilson and Hilferty's cube root, whose bound lies
// a few per cent on the safe side for small degrees of freedom). Cells expected fewer than ten times are put together.
inline void expect_frequencies(const Row& counts, const Row& probabilities) {
  ASSERT_EQ(counts.size(), probabilities.size());
  double total = 0, statistic = 0, rare_count = 0, rare_expected = 0, cells = 0;
  for (const double count : counts) total += count;
  const auto add = [&](double count, double expected) {
    statistic += (count - expected) * (count - expected) / expected;
    cells += 1;
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (probabilities[i] * total >= 10) {
      add(counts[i], probabilities[i] * total);
    } else {
      rare_count += counts[i];
      rare_expected += probabilities[i] * total;
    }
  }
  if (rare_expected >= 10) {
    add(rare_count, rare_expected);
  } else {
    // A Poisson count of mean ten or less passes its mean by 25 with probability below 1e-8.
    EXPECT_LE(rare_count, rare_expected + 25) << "states that should hardly occur do";
  }
  ASSERT_GE(cells, 2);
  const double freedom = cells - 1, z = 4.7534;
  const double bound = freedom * std::pow(1 - 2 / (9 * freedom) + z * std::sqrt(2 / (9 * freedom)), 3);
  EXPECT_LT(statistic, bound) << freedom << " degrees of freedom";
}

// A number for every row of zeros and ones: bit i is column i of the layers put side by side. For rows of larger whole
// numbers, digits to another base.
inline at::Tensor codes(const State& state, std::int64_t base = 2) {
  const at::Tensor joined = at::cat(state.layers, 1).to(at::kLong);
  return (joined * at::pow(base, at::arange(joined.size(1), at::kLong))).sum(1);
}

// How often each configuration occurs in a state of discrete layers; rows that are none of them fail.
inline Row count_configurations(const State& state, const std::vector<Configuration>& configurations) {
  const State all = to_state(configurations);
  const std::int64_t base = std::max<std::int64_t>(2, at::cat(all.layers, 1).max().item<std::int64_t>() + 1);
  const at::Tensor known = codes(all, base);
  const std::int64_t highest = known.max().item<std::int64_t>();
  const at::Tensor seen = codes(state, base);
  EXPECT_LE(seen.max().item<std::int64_t>(), highest);
  const at::Tensor counts = at::bincount(seen, {}, highest + 1).index_select(0, known);
  EXPECT_EQ(counts.sum().item<std::int64_t>(), state.rows()) << "a state that the machine does not have";
  return numbers(counts);
}

// `rows` independent draws of configurations with the given probabilities.
inline State draw_configurations(const std::vector<Configuration>& configurations, const Row& probabilities,
                                 std::int64_t rows, const Key& key) {
  const at::Tensor cumulative = to_tensor({probabilities})[0].cumsum(0);
  const at::Tensor index = at::searchsorted(cumulative, uniform(key, {rows}, at::kDouble), false, true)
                               .clamp_max(static_cast<std::int64_t>(configurations.size()) - 1);
  State state = to_state(configurations);
  for (at::Tensor& layer : state.layers) layer = layer.index_select(0, index);
  return state;
}

// Mean of independent repetitions against its expectation, in standard errors estimated from the repetitions
// themselves.
inline void expect_mean(const at::Tensor& repetitions, const at::Tensor& expected, const std::string& what = "") {
  const auto n = static_cast<double>(repetitions.size(0));
  const at::Tensor mean = repetitions.mean(0);
  const at::Tensor standard_error = ((repetitions - mean).square().sum(0) / (n * (n - 1))).sqrt();
  const at::Tensor allowed = allowed_deviations * standard_error + 1e-12;
  EXPECT_TRUE((mean - expected).abs().le(allowed).all().item<bool>()) << what << "\nmean\n"
                                                                      << mean << "\nexpected\n"
                                                                      << expected << "\nallowed\n"
                                                                      << allowed;
}

}  // namespace harmonium::support
