#include "harmonium/distributions/distribution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/distributions/bernoulli.h"
#include "harmonium/distributions/gaussian.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/unit_types.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using Deviation = GaussianDistribution::Deviation;

at::Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

// The forms of a Gaussian in `columns` columns, each with a raw row and its standard deviation in every column.
struct GaussianCase {
  std::shared_ptr<const Distribution> distribution;
  at::Tensor raw, deviations;
};
std::vector<GaussianCase> gaussians() {
  return {{make_distribution("gaussian:2"), numbers({0.7, -1.2, 0.3, -0.5}), numbers({std::exp(0.3), std::exp(-0.5)})},
          {make_distribution("gaussian:2:0.4"), numbers({0.7, -1.2, 0.3, -9}),
           numbers({0.4 + std::exp(0.3), 0.4 + std::exp(-9)})},
          {make_distribution("shared_gaussian:2:0.3"), numbers({0.7, -1.2, -0.6}),
           numbers({0.3 + std::exp(-0.6), 0.3 + std::exp(-0.6)})}};
}

at::Tensor binary_rows(std::int64_t width) {
  return Bernoulli(width).states(at::arange(std::int64_t{1} << width, at::kLong), at::kDouble);
}

// Trapezoid nodes from −15 to 15 in steps of 0.05: at standard deviations between 0.4 and 1.8 and means within ±1.5
// both what is cut off and the error of the rule are below 1e-14.
constexpr double step = 0.05;
at::Tensor nodes() { return at::arange(-300, 301, at::kDouble) * step; }

// ---- densities

TEST(BernoulliDistribution, SumsToOneAndIsTheUnitOfThatName) {
  const BernoulliDistribution distribution(5);
  const Bernoulli unit(5);
  const at::Tensor raw = normal(Key(1), {5}, at::kDouble) * 2, rows = binary_rows(5);
  const at::Tensor log_p = distribution.log_prob(rows, raw);
  EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-13);
  const at::Tensor fields = raw.expand({32, 5}).contiguous();
  support::expect_close(log_p, unit.log_potential(rows, {raw}) - unit.log_partition(fields, {raw}), 1e-13);
  support::expect_close(distribution.mean(fields), unit.mean(fields, {raw}), 1e-14);
  EXPECT_TRUE(at::equal(distribution.sample(Key(2), fields), unit.sample(Key(2), fields, {raw}))) << "same key";
}

TEST(BernoulliDistribution, HasItsDerivativeAtZeroAndFarOut) {
  const BernoulliDistribution distribution(4);
  at::Tensor raw = numbers({0, 0, 800, -800});
  raw.requires_grad_();
  const at::Tensor value = numbers({1, 0, 0, 0}), log_p = distribution.log_prob(value, raw);
  EXPECT_NEAR(log_p.item<double>(), -2 * std::log(2) - 800, 1e-10);
  log_p.backward();
  support::expect_close(raw.grad(), numbers({0.5, -0.5, -1, 0}), 1e-14);
}

TEST(GaussianDistribution, IntegratesToOneAndIsTheDensityByDefinition) {
  const at::Tensor axis = nodes();
  const std::vector<at::Tensor> mesh = at::meshgrid({axis, axis}, "ij");
  const at::Tensor points = at::stack({mesh[0].reshape({-1}), mesh[1].reshape({-1})}, 1);
  for (const GaussianCase& one : gaussians()) {
    SCOPED_TRACE(one.distribution->spec());
    const at::Tensor log_p = one.distribution->log_prob(points, one.raw);
    EXPECT_NEAR(log_p.exp().sum().item<double>() * step * step, 1, 1e-12);
    const at::Tensor z = (points - one.raw.narrow(0, 0, 2)) / one.deviations;
    const at::Tensor density = at::exp(-0.5 * z.square().sum(1)) / (2 * std::numbers::pi * one.deviations.prod());
    support::expect_close(log_p.exp(), density, 1e-12);
  }
}

TEST(Distributions, AddUpColumnsInDoublePrecisionAndBroadcast) {
  for (const auto& type :
       {"bernoulli:3", "gaussian:3", "gaussian:3:0.1", "shared_gaussian:3:0.1", "gaussian_mixture:3x2"}) {
    SCOPED_TRACE(type);
    const auto distribution = make_distribution(type);
    const at::Tensor value = at::ones({4, 1, 3}), raw = normal(Key(3), {4, 6, distribution->raw_width()});
    const at::Tensor log_p = distribution->log_prob(value, raw);
    EXPECT_EQ(log_p.scalar_type(), at::kDouble);
    ASSERT_EQ(log_p.sizes(), at::IntArrayRef({4, 6}));
    EXPECT_EQ(distribution->mean(raw).sizes(), at::IntArrayRef({4, 6, 3}));
    EXPECT_EQ(distribution->sample(Key(1), raw).sizes(), at::IntArrayRef({4, 6, 3}));
    support::expect_close(log_p.select(1, 2), distribution->log_prob(at::ones({4, 3}), raw.select(1, 2)), 1e-12);
  }
}

TEST(CategoricalDistribution, SumsToOneAndIsTheSoftmaxUnit) {
  const auto distribution = make_distribution("categorical:2x3");
  const auto unit = make_unit("softmax:2x3");
  const at::Tensor raw = normal(Key(1), {6}, at::kDouble) * 2,
                   rows = unit->states(at::arange(9, at::kLong), at::kDouble);
  const at::Tensor log_p = distribution->log_prob(rows, raw), fields = raw.expand({9, 6}).contiguous();
  EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-13);
  support::expect_close(log_p, (rows * raw).sum(1) - unit->log_partition(fields, {raw}), 1e-13);
  support::expect_close(distribution->mean(fields), unit->mean(fields, {raw}), 1e-14);
  EXPECT_TRUE(at::equal(distribution->sample(Key(2), fields), unit->sample(Key(2), fields, {raw}))) << "same key";
  support::expect_close(distribution->mean(distribution->raw_of_means(distribution->mean(raw))),
                        distribution->mean(raw), 1e-12);
  EXPECT_EQ(distribution->complaint(rows), "");
  EXPECT_NE(distribution->complaint(at::ones({1, 6}, at::kDouble)), "");
  EXPECT_THROW((void)make_distribution("categorical:7"), Error);
}

TEST(Distributions, SayWhichVariableAColumnBelongsTo) {
  using Columns = std::vector<std::int64_t>;
  EXPECT_EQ(make_distribution("gaussian:2:0.1")->raw_variables(), (Columns{0, 1, 0, 1}));
  EXPECT_EQ(make_distribution("shared_gaussian:2:0.1")->raw_variables(), (Columns{0, 1, -1}));
  EXPECT_EQ(make_distribution("categorical:2x3")->value_variables(), (Columns{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(make_distribution("categorical:2x3")->of_one_variable()->spec(), "categorical:1x3");
  EXPECT_EQ(make_distribution("bernoulli:4")->variables(), 4);
  EXPECT_EQ(make_distribution("gaussian_mixture:2x1")->raw_variables(), (Columns{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(make_distribution("laplace_mixture:2x4:0.1")->of_one_variable()->spec(), "laplace_mixture:1x4:0.1");
}

// ---- draws

TEST(BernoulliDistribution, DrawsItsOwnLaw) {
  const BernoulliDistribution distribution(3);
  const at::Tensor raw = numbers({0.8, -1.5, 0.1});
  const at::Tensor drawn = distribution.sample(Key(4), raw.expand({100000, 3}).contiguous());
  support::expect_mean(drawn, distribution.mean(raw));  // false alarms: support/statistics.h
  const at::Tensor codes = (drawn.to(at::kLong) * numbers({1, 2, 4}).to(at::kLong)).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 8)),
                              support::numbers(distribution.log_prob(binary_rows(3), raw).exp()));
}

TEST(GaussianDistribution, DrawsItsOwnLaw) {
  constexpr std::int64_t count = 100000, bins = 20;
  for (const GaussianCase& one : gaussians()) {
    SCOPED_TRACE(one.distribution->spec());
    const at::Tensor drawn = one.distribution->sample(Key(5), one.raw.expand({count, one.raw.size(0)}));
    EXPECT_TRUE(at::equal(drawn, one.distribution->reparametrized(Key(5), one.raw.expand({count, one.raw.size(0)}))));
    support::expect_mean(drawn, one.distribution->mean(one.raw));
    const at::Tensor centred = drawn - one.distribution->mean(one.raw);
    support::expect_mean(centred.square(), one.deviations.square());
    support::expect_mean(centred.select(1, 0) * centred.select(1, 1), at::zeros({}, at::kDouble), "independent");
    // Φ of the standardized draws is uniform: twenty cells, false alarms 1e-6.
    const at::Tensor uniform = 0.5 * at::erfc(-centred / one.deviations / std::numbers::sqrt2);
    for (std::int64_t column = 0; column < 2; ++column) {
      const at::Tensor cell = (uniform.select(1, column) * bins).to(at::kLong).clamp_max(bins - 1);
      support::expect_frequencies(support::numbers(at::bincount(cell, {}, bins)),
                                  std::vector<double>(bins, 1.0 / bins));
    }
  }
}

TEST(Distributions, AreFunctionsOfTheirKey) {
  for (const auto& type :
       {"bernoulli:3", "gaussian:3", "shared_gaussian:3:0.1", "gaussian_mixture:3x2", "laplace_mixture:3x2"}) {
    const auto distribution = make_distribution(type);
    const at::Tensor raw = normal(Key(6), {50, distribution->raw_width()}, at::kDouble).requires_grad_();
    EXPECT_TRUE(at::equal(distribution->sample(Key(7), raw), distribution->sample(Key(7), raw)));
    EXPECT_FALSE(at::equal(distribution->sample(Key(7), raw), distribution->sample(Key(8), raw)));
    EXPECT_FALSE(distribution->sample(Key(7), raw).requires_grad());
  }
}

// ---- gradients through draws

// Σ weight·sin(y) of draws with one key, as a function of raw.
double test_function(const Distribution& distribution, const at::Tensor& raw) {
  const at::Tensor y = distribution.reparametrized(Key(9), raw);
  return (y.sin() * at::arange(1, y.numel() + 1, at::kDouble).reshape(y.sizes())).sum().item<double>();
}

TEST(GaussianDistribution, HasAPathWithTheDerivativeOfItsDraws) {
  for (const GaussianCase& one : gaussians()) {
    SCOPED_TRACE(one.distribution->spec());
    const at::Tensor raw = (one.raw + 0.1 * normal(Key(10), {3, one.raw.size(0)}, at::kDouble)).requires_grad_();
    const at::Tensor y = one.distribution->reparametrized(Key(9), raw);
    (y.sin() * at::arange(1, y.numel() + 1, at::kDouble).reshape(y.sizes())).sum().backward();
    constexpr double h = 1e-5;
    for (std::int64_t row = 0; row < raw.size(0); ++row)
      for (std::int64_t column = 0; column < raw.size(1); ++column) {
        at::Tensor up = raw.detach().clone(), down = raw.detach().clone();
        up[row][column] += h;
        down[row][column] -= h;
        const double slope = (test_function(*one.distribution, up) - test_function(*one.distribution, down)) / (2 * h);
        EXPECT_NEAR(raw.grad()[row][column].item<double>(), slope, 1e-8);
      }
  }
}

// E sin(y) = e^{−σ²/2} sin μ, so its derivatives are known; those of single draws must have them as their means.
TEST(GaussianDistribution, HasAnUnbiasedPath) {
  const GaussianDistribution distribution(1);
  constexpr double mu = 0.7, s = -0.2;
  const double sigma = std::exp(s), damping = std::exp(-sigma * sigma / 2);
  at::Tensor raw = numbers({mu, s}).expand({100000, 2}).contiguous().requires_grad_();
  distribution.reparametrized(Key(11), raw).sin().sum().backward();
  support::expect_mean(raw.grad(), numbers({damping * std::cos(mu), -sigma * sigma * damping * std::sin(mu)}));
}

TEST(GaussianDistribution, KeepsItsDeviationWithinBounds) {
  const GaussianDistribution plain(1);
  const at::Tensor far = numbers({0, 50, 0, -50, 0, 2}).reshape({3, 2});
  support::expect_close(plain.log_deviation(far), numbers({7, -7, 2}).unsqueeze(1), 1e-15);
  // At the floor a clamp would have no derivative, and a deviation once too small could never grow again.
  const GaussianDistribution floored(1, Deviation::per_column, 0.05);
  at::Tensor raw = numbers({0, -20}).requires_grad_();
  EXPECT_GE(floored.log_deviation(raw.detach()).item<double>(), std::log(0.05));
  floored.log_prob(numbers({3}), raw).backward();
  EXPECT_GT(raw.grad()[1].item<double>(), 0);
}

// ---- divergences

TEST(GaussianDistribution, HasTheDivergenceOfQuadrature) {
  const at::Tensor axis = nodes().unsqueeze(1);
  for (const std::string spec : {"gaussian:1", "gaussian:1:0.2"}) {
    const auto distribution = make_distribution(spec);
    const at::Tensor raw = numbers({0.7, -0.4}), other = numbers({-0.3, 0.25});
    const at::Tensor log_p = distribution->log_prob(axis, raw), log_q = distribution->log_prob(axis, other);
    const double expected = (log_p.exp() * (log_p - log_q)).sum().item<double>() * step;
    EXPECT_NEAR(distribution->kl(raw, other)->item<double>(), expected, 1e-12) << spec;
    EXPECT_NEAR(distribution->kl(raw, raw)->item<double>(), 0, 1e-15);
  }
  // Against N(0, 1): ½(μ² + σ² − 1) − log σ of every column.
  const GaussianDistribution two(2);
  const at::Tensor found = *two.kl(numbers({0.5, -2, 0.3, -1}), at::zeros({4}, at::kDouble));
  support::expect_close(found, numbers({0.5 * (0.25 + std::exp(0.6) - 1) - 0.3, 0.5 * (4 + std::exp(-2.0) - 1) + 1}),
                        1e-14);
}

TEST(BernoulliDistribution, HasTheDivergenceOfEnumeration) {
  const BernoulliDistribution distribution(3);
  const at::Tensor raw = numbers({0.8, -1.5, 0.1}), other = numbers({-0.4, -2, 3}), rows = binary_rows(3);
  const at::Tensor log_p = distribution.log_prob(rows, raw), log_q = distribution.log_prob(rows, other);
  EXPECT_NEAR(distribution.kl(raw, other)->sum().item<double>(), (log_p.exp() * (log_p - log_q)).sum().item<double>(),
              1e-13);
}

// ---- specs and complaints

TEST(Distributions, AreReadFromTheirSpecs) {
  for (const std::string spec : {"bernoulli:784", "gaussian:50", "gaussian:784:0.05", "shared_gaussian:3:0.001"})
    EXPECT_EQ(make_distribution(spec)->spec(), spec);
  EXPECT_EQ(make_distribution("gaussian:5")->raw_width(), 10);
  EXPECT_EQ(make_distribution("shared_gaussian:5:0.1")->raw_width(), 6);
  EXPECT_EQ(make_distribution("shared_gaussian:5:0.1")->shared_width(), 1);
  using support::expect_mentions;
  using support::message_of;
  const std::string unknown = message_of([] { (void)make_distribution("poisson:3"); });
  for (const DistributionType& type : distribution_types()) {
    EXPECT_TRUE(type.form.starts_with(type.name + ":N")) << type.form;
    EXPECT_FALSE(type.help.empty());
    expect_mentions(unknown, {type.form});
  }
  expect_mentions(message_of([] { (void)make_distribution("bernoulli"); }), {"bernoulli", "columns"});
  expect_mentions(message_of([] { (void)make_distribution("bernoulli:0"); }), {"bernoulli:0", "positive"});
  expect_mentions(message_of([] { (void)make_distribution("bernoulli:3x"); }), {"3x"});
  expect_mentions(message_of([] { (void)make_distribution("gaussian:3:-1"); }), {"-1", "floor"});
  expect_mentions(message_of([] { (void)make_distribution("gaussian:3:nan"); }), {"nan", "floor"});
}

TEST(Distributions, SayWhatTheyCannotDo) {
  using support::expect_mentions;
  using support::message_of;
  const auto bernoulli = make_distribution("bernoulli:2"), gaussian = make_distribution("gaussian:2");
  EXPECT_FALSE(bernoulli->reparametrizable());
  EXPECT_TRUE(gaussian->reparametrizable());
  expect_mentions(message_of([&] { (void)bernoulli->reparametrized(Key(1), at::zeros({1, 2})); }), {"bernoulli:2"});
  const at::Tensor bad = numbers({0, 1, 0.5, 1.5}).reshape({2, 2});
  EXPECT_EQ(bernoulli->complaint(bad.narrow(0, 0, 1)), "");
  expect_mentions(bernoulli->complaint(bad), {"row 1", "column 1", "1.5"});
  EXPECT_EQ(gaussian->complaint(bad), "");
  expect_mentions(gaussian->complaint(bad / 0), {"row 0", "column 0", "finite"});
  EXPECT_EQ(bernoulli->complaint_as_output(), "");
  EXPECT_EQ(make_distribution("gaussian:2:0.1")->complaint_as_output(), "");
  expect_mentions(gaussian->complaint_as_output(), {"gaussian:2", "floor", "gaussian:2:0.05"});
  expect_mentions(make_distribution("shared_gaussian:2")->complaint_as_output(), {"shared_gaussian:2:0.05"});
}

TEST(Distributions, BeginAtTheMeansOfTheData) {
  const at::Tensor means = numbers({0, 0.25, 1});
  const auto bernoulli = make_distribution("bernoulli:3");
  support::expect_close(bernoulli->mean(bernoulli->raw_of_means(means)), numbers({0.001, 0.25, 0.999}), 1e-12);
  for (const std::string spec : {"gaussian:3:0.1", "shared_gaussian:3:0.1"}) {
    const auto gaussian = make_distribution(spec);
    const at::Tensor raw = gaussian->raw_of_means(means);
    EXPECT_EQ(raw.size(0), gaussian->raw_width() - gaussian->shared_width()) << spec;
    EXPECT_TRUE(at::equal(gaussian->mean(raw), means)) << spec;
  }
}

}  // namespace
}  // namespace harmonium
