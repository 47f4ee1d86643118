// Every statistical test has a fixed seed and a false-alarm rate of at most 2e-6, so that a failure means a mistake.
#include "harmonium/kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "harmonium/core/error.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Two-sided probability that a normal variable leaves ±5 standard deviations: 5.7e-7.
constexpr double five_sigma = 5.0;

// Bounds of chi-square with 1e-6 beyond each, by Wilson and Hilferty's cube root (within 1 % of exact from 23 degrees
// of freedom on). The lower bound catches numbers that are more even than chance.
struct Bounds {
  double low, high;
};
Bounds chi_square_bounds(double freedom) {
  constexpr double z = 4.7534;
  const double mean = 1 - 2 / (9 * freedom), deviation = std::sqrt(2 / (9 * freedom));
  return {freedom * std::pow(mean - z * deviation, 3), freedom * std::pow(mean + z * deviation, 3)};
}

void expect_equal_frequencies(const std::vector<double>& counts) {
  double total = 0, statistic = 0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
  const Bounds bounds = chi_square_bounds(static_cast<double>(counts.size()) - 1);
  EXPECT_GT(statistic, bounds.low);
  EXPECT_LT(statistic, bounds.high);
}

// Counts of values in [0, 1) over equal bins.
std::vector<double> bin_counts(const at::Tensor& unit, std::int64_t bins) {
  const at::Tensor index = (unit.to(at::kDouble) * static_cast<double>(bins)).floor().to(at::kLong);
  const at::Tensor counts = at::bincount(index.reshape({-1}), {}, bins).to(at::kDouble);
  return {counts.data_ptr<double>(), counts.data_ptr<double>() + bins};
}

double mean_of(const at::Tensor& x) { return x.to(at::kDouble).mean().item<double>(); }

// Large enough for three tasks of the kernel, and a multiple of neither block size.
constexpr std::int64_t several_tasks = 100003;

class RandomTensors : public testing::TestWithParam<at::ScalarType> {
 protected:
  using Draw = at::Tensor (*)(const Key&, std::int64_t, at::ScalarType);

  static at::Tensor draw_uniform(const Key& key, std::int64_t n, at::ScalarType type) {
    return uniform(key, {n}, type);
  }
  static at::Tensor draw_normal(const Key& key, std::int64_t n, at::ScalarType type) { return normal(key, {n}, type); }
  static at::Tensor draw_bernoulli(const Key& key, std::int64_t n, at::ScalarType type) {
    return sample_bernoulli(key, at::linspace(0, 1, several_tasks, type).narrow(0, 0, n));
  }
  static constexpr std::array<Draw, 3> draws = {draw_uniform, draw_normal, draw_bernoulli};
};

TEST_P(RandomTensors, AreBitIdenticalForAnyNumberOfThreads) {
  for (const Draw draw : draws) {
    std::vector<at::Tensor> results;
    for (const int threads : {1, 2, 3}) {
      const support::ThreadCount limit(threads);
      results.push_back(draw(Key(1), several_tasks, GetParam()));
    }
    EXPECT_TRUE(at::equal(results[0], results[1]));
    EXPECT_TRUE(at::equal(results[0], results[2]));
  }
}

TEST_P(RandomTensors, StartLikeEveryShorterTensorOfTheSameKey) {
  for (const Draw draw : draws) {
    const at::Tensor whole = draw(Key(2), several_tasks, GetParam());
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1001}) {
      EXPECT_TRUE(at::equal(draw(Key(2), n, GetParam()), whole.narrow(0, 0, n))) << n << " elements";
    }
  }
}

TEST_P(RandomTensors, HaveTheShapeAndTypeAskedFor) {
  const at::Tensor u = uniform(Key(3), {3, 5, 7}, GetParam()), z = normal(Key(3), {3, 5, 7}, GetParam());
  EXPECT_EQ(u.sizes(), at::IntArrayRef({3, 5, 7}));
  EXPECT_EQ(z.sizes(), at::IntArrayRef({3, 5, 7}));
  EXPECT_EQ(u.scalar_type(), GetParam());
  EXPECT_EQ(z.scalar_type(), GetParam());
  EXPECT_TRUE(at::equal(u.reshape({-1}), uniform(Key(3), {105}, GetParam()))) << "the shape must not matter";
}

TEST_P(RandomTensors, OfAnotherKeyAreOthers) {
  const at::Tensor a = uniform(Key(4), {several_tasks}, GetParam());
  const at::Tensor b = uniform(Key(4).fold_in(0), {several_tasks}, GetParam());
  // The correlation of independent uniforms has standard error 1/sqrt(n).
  const double correlation = 12 * mean_of((a.to(at::kDouble) - 0.5) * (b.to(at::kDouble) - 0.5));
  EXPECT_LT(std::abs(correlation), five_sigma / std::sqrt(static_cast<double>(several_tasks)));
}

TEST_P(RandomTensors, UniformFillsTheUnitIntervalEvenly) {
  constexpr std::int64_t n = 1'000'001;
  const at::Tensor u = uniform(Key(5), {n}, GetParam());
  EXPECT_GE(u.min().item<double>(), 0.0);
  EXPECT_LT(u.max().item<double>(), 1.0);
  EXPECT_NEAR(mean_of(u), 0.5, five_sigma * std::sqrt(1.0 / 12 / n));
  // Var[(u − ½)²] = 1/80 − 1/144.
  EXPECT_NEAR(mean_of((u.to(at::kDouble) - 0.5).square()), 1.0 / 12,
              five_sigma * std::sqrt((1.0 / 80 - 1.0 / 144) / n));
  expect_equal_frequencies(bin_counts(u, 256));
}

TEST_P(RandomTensors, UniformNeighboursAreIndependent) {
  // Neighbours share a Philox block, so a mistake in unpacking it shows in the joint histogram of pairs.
  const at::Tensor pairs = uniform(Key(6), {500000, 2}, GetParam()).to(at::kDouble);
  const at::Tensor cell = (pairs * 16).floor();
  expect_equal_frequencies(bin_counts((cell.select(1, 0) * 16 + cell.select(1, 1) + 0.5) / 256, 256));
}

TEST_P(RandomTensors, NormalHasTheMomentsOfAStandardNormal) {
  constexpr std::int64_t n = 1'000'001;
  const at::Tensor z = normal(Key(7), {n}, GetParam()).to(at::kDouble);
  EXPECT_TRUE(at::isfinite(z).all().item<bool>());
  // Var[z] = 1, Var[z²] = 2, Var[z³] = 15, Var[z⁴] = 96.
  EXPECT_NEAR(mean_of(z), 0, five_sigma * std::sqrt(1.0 / n));
  EXPECT_NEAR(mean_of(z.pow(2)), 1, five_sigma * std::sqrt(2.0 / n));
  EXPECT_NEAR(mean_of(z.pow(3)), 0, five_sigma * std::sqrt(15.0 / n));
  EXPECT_NEAR(mean_of(z.pow(4)), 3, five_sigma * std::sqrt(96.0 / n));
}

TEST_P(RandomTensors, NormalHasTheDistributionOfAStandardNormal) {
  const at::Tensor z = normal(Key(8), {1'000'001}, GetParam()).to(at::kDouble);
  expect_equal_frequencies(bin_counts(0.5 * at::erfc(-z * (1 / std::numbers::sqrt2)), 100));
}

TEST_P(RandomTensors, NormalPartnersOfOnePairAreIndependent) {
  // Sine and cosine of one angle share a radius; the product of values and that of squares would show it.
  constexpr std::int64_t n = 500000;
  const at::Tensor z = normal(Key(9), {n, 2}, GetParam()).to(at::kDouble);
  const at::Tensor a = z.select(1, 0), b = z.select(1, 1);
  EXPECT_NEAR(mean_of(a * b), 0, five_sigma * std::sqrt(1.0 / n));
  // Var[(a² − 1)(b² − 1)] = 4.
  EXPECT_NEAR(mean_of((a.square() - 1) * (b.square() - 1)), 0, five_sigma * std::sqrt(4.0 / n));
}

TEST_P(RandomTensors, BernoulliHasTheFrequencyAskedFor) {
  constexpr std::int64_t n = 200003;
  for (const double p : {0.001, 0.1, 0.5, 0.77, 0.999}) {
    const at::Tensor draw = sample_bernoulli(Key(10).fold_in(static_cast<std::uint64_t>(p * 1000)),
                                             at::full({n}, p, at::TensorOptions(GetParam())));
    EXPECT_NEAR(mean_of(draw), p, five_sigma * std::sqrt(p * (1 - p) / n)) << "p = " << p;
  }
}

TEST_P(RandomTensors, BernoulliIsNeverWrongAboutCertainty) {
  EXPECT_EQ(mean_of(sample_bernoulli(Key(11), at::zeros({several_tasks}, GetParam()))), 0.0);
  EXPECT_EQ(mean_of(sample_bernoulli(Key(11), at::ones({several_tasks}, GetParam()))), 1.0);
}

TEST_P(RandomTensors, BernoulliComparesTheUniformOfItsKeyWithTheProbability) {
  const at::Tensor p = uniform(Key(12), {37, 11}, GetParam());
  const at::Tensor expected = (uniform(Key(13), {37, 11}, GetParam()) < p).to(GetParam());
  EXPECT_TRUE(at::equal(sample_bernoulli(Key(13), p), expected));
}

TEST_P(RandomTensors, BernoulliReadsAStridedProbabilityInItsLogicalOrder) {
  const at::Tensor p = uniform(Key(14), {37, 11}, GetParam());
  EXPECT_TRUE(at::equal(sample_bernoulli(Key(15), p.t()), sample_bernoulli(Key(15), p.t().contiguous())));
}

INSTANTIATE_TEST_SUITE_P(Types, RandomTensors, testing::Values(at::kFloat, at::kDouble),
                         [](const auto& type) { return type.param == at::kFloat ? "Float" : "Double"; });

TEST(RandomTensor, IsNotMadeOfIntegers) {
  EXPECT_THROW(static_cast<void>(uniform(Key(0), {3}, at::kLong)), Error);
  EXPECT_THROW(static_cast<void>(normal(Key(0), {3}, at::kHalf)), Error);
  EXPECT_THROW(static_cast<void>(sample_bernoulli(Key(0), at::ones({3}, at::kLong))), Error);
}

TEST(Permutation, HoldsEveryIndexOnce) {
  for (const std::int64_t n : {0, 1, 2, 1000}) {
    const at::Tensor order = permutation(Key(16), n);
    EXPECT_EQ(order.scalar_type(), at::kLong);
    EXPECT_TRUE(at::equal(std::get<0>(order.sort()), at::arange(n, at::kLong)));
  }
}

TEST(Permutation, DependsOnItsKeyAlone) {
  EXPECT_TRUE(at::equal(permutation(Key(17), 1000), permutation(Key(17), 1000)));
  EXPECT_FALSE(at::equal(permutation(Key(17), 1000), permutation(Key(18), 1000)));
}

TEST(Permutation, GivesAllTwentyFourOrdersOfFourEquallyOften) {
  std::map<std::int64_t, double> orders;
  for (std::uint64_t i = 0; i < 48000; ++i) {
    const at::Tensor order = permutation(Key(19).fold_in(i), 4);
    const std::int64_t* p = order.data_ptr<std::int64_t>();
    orders[((p[0] * 4 + p[1]) * 4 + p[2]) * 4 + p[3]] += 1;
  }
  ASSERT_EQ(orders.size(), 24U);
  std::vector<double> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  expect_equal_frequencies(counts);
}

TEST(RandomRows, AreTheBernoulliDrawsOfTheirGrayValues) {
  const at::Tensor bytes = (uniform(Key(1), {50, 301}) * 256).floor().to(at::kByte);
  const at::Tensor rows = at::tensor({49L, 0L, 7L, 7L, 23L}, at::kLong);
  const at::Tensor gray = bytes.index_select(0, rows).to(at::kFloat).mul_(1.0 / 255);
  EXPECT_TRUE(at::equal(sample_bernoulli(Key(2), bytes, rows, 1.0 / 255), sample_bernoulli(Key(2), gray)));
  EXPECT_THROW((void)sample_bernoulli(Key(2), bytes, at::tensor({50L}, at::kLong), 1.0 / 255), Error);
  EXPECT_THROW((void)sample_bernoulli(Key(2), bytes, at::tensor({-1L}, at::kLong), 1.0 / 255), Error);
  EXPECT_THROW((void)sample_bernoulli(Key(2), gray, rows, 1.0 / 255), Error);
}

// Kolmogorov's distance of 100 000 draws from the incomplete gamma function: √n D > 2.7 by chance once in 10⁶.
TEST(StandardGamma, HasItsDistribution) {
  constexpr std::int64_t n = 100'000;
  for (const double shape : {0.3, 0.6, 1.0, 1.5, 2.5, 30.0}) {
    const at::Tensor shapes = at::full({n}, shape, at::kDouble);
    const at::Tensor draws = standard_gamma(Key(23).fold_in(static_cast<std::uint64_t>(10 * shape)), shapes);
    const at::Tensor p = at::special_gammainc(shapes, std::get<0>(draws.sort()));
    const at::Tensor below = at::arange(n, at::kDouble) / double{n};
    const double distance = at::maximum((p - below).abs(), (p - below - 1 / double{n}).abs()).max().item<double>();
    EXPECT_LT(std::sqrt(double{n}) * distance, 2.7) << shape;
  }
}

TEST(StandardGamma, DependsOnKeyAndPlaceAlone) {
  const at::Tensor shapes = 0.2 + uniform(Key(24), {40, 5}, at::kDouble);
  const at::Tensor all = standard_gamma(Key(25), shapes);
  EXPECT_TRUE(at::equal(all.narrow(0, 0, 3), standard_gamma(Key(25), shapes.narrow(0, 0, 3).contiguous())));
  EXPECT_FALSE(at::equal(all, standard_gamma(Key(26), shapes)));
  EXPECT_TRUE(standard_gamma(Key(25), shapes.to(at::kFloat)).gt(0).all().item<bool>());
}

}  // namespace
}  // namespace harmonium
