#include "harmonium/units/cardinality.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/random.h"
#include "harmonium/units/bernoulli.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

// Worked out by hand for four units of which at most two are on.
TEST(Cardinality, HasTheKnownMeansOfAWorkedExample) {
  const at::Tensor field = at::tensor({1.0, 0.0, -1.0, 0.5}, at::kDouble).unsqueeze(0);
  const Cardinality unit(4, 2);
  EXPECT_NEAR(unit.log_partition(field, {}).item<double>(), 2.865509, 5e-7);
  const at::Tensor expected = at::tensor({0.621840, 0.326625, 0.133403, 0.477598}, at::kDouble);
  EXPECT_TRUE(at::allclose(unit.mean(field, {})[0], expected, 0, 5e-7));
}

// A limit that is hardly ever reached leaves independent units: P(more than 12 of 20 on) is below 1e-13 at these
// fields.
TEST(Cardinality, WithALimitOutOfReachIsBinary) {
  const at::Tensor field = -5 + 0.3 * normal(Key(1), {6, 20}, at::kDouble);
  const Cardinality unit(20, 12);
  const Bernoulli free(20);
  expect_close(unit.log_partition(field, {}), free.log_partition(field, {}), 1e-12);
  expect_close(unit.mean(field, {}), free.mean(field, {}), 1e-12);
  expect_close(unit.conditional_covariance(field, {}, {}), free.conditional_covariance(field, {}, {}), 1e-12);
  expect_close(unit.entropy(field, {}), free.entropy(field, {}), 1e-12);
}

// Means of many units against the slope of the log-partition, which knows nothing of chains and budgets.
TEST(Cardinality, HasMeansThatAreSlopesInWideLayers) {
  const Cardinality unit(60, 7);
  const at::Tensor field = 2 * normal(Key(2), {3, 60}, at::kDouble), mean = unit.mean(field, {});
  constexpr double step = 1e-5;
  for (const std::int64_t column : {0, 17, 59}) {
    at::Tensor shift = at::zeros({60}, at::kDouble);
    shift[column] = step;
    const at::Tensor slope =
        (unit.log_partition(field + shift, {}) - unit.log_partition(field - shift, {})) / (2 * step);
    expect_close(mean.select(1, column), slope, 1e-8);
  }
  EXPECT_LE(unit.sample(Key(3), field.repeat({500, 1}), {}).sum(1).max().item<double>(), 7);
}

TEST(Cardinality, IsNotDisturbedByHugeFields) {
  const Cardinality unit(4, 2);
  const at::Tensor field = at::tensor({3000.0, 2999.0, 2998.0, -5000.0}, at::kDouble).unsqueeze(0);
  const double z = 1 + std::exp(-1.0) + std::exp(-2.0);  // pairs (0, 1), (0, 2), (1, 2)
  EXPECT_NEAR(unit.log_partition(field, {}).item<double>(), 5999 + std::log(z), 1e-9);
  EXPECT_NEAR(unit.mean(field, {})[0][0].item<double>(), (1 + std::exp(-1.0)) / z, 1e-12);
  EXPECT_EQ(unit.mean(field, {})[0][3].item<double>(), 0);
}

// A row of huge fields beside the others makes all of them go by logarithms; without it they go by products.
TEST(Cardinality, WalksAlikeByProductsAndByLogarithms) {
  for (const auto& [width, most] : {std::pair{1, 1}, {7, 3}, {90, 17}, {40, 40}}) {
    const Cardinality unit(width, most);
    const at::Tensor scale = at::tensor({0.1, 1.0, 10.0, 200.0}, at::kDouble).repeat({8}).unsqueeze(1);
    const at::Tensor field = (scale * normal(Key(4), {32, width}, at::kDouble)).clamp_(-680, 680);
    const at::Tensor more = at::cat({field, at::full({1, width}, 3000.0, at::kDouble)});
    const auto beside = [&](const at::Tensor& all) { return all.narrow(0, 0, 32); };
    expect_close(unit.log_partition(field, {}), beside(unit.log_partition(more, {})), 1e-11);
    expect_close(unit.mean(field, {}), beside(unit.mean(more, {})), 1e-11);
    EXPECT_TRUE(at::equal(unit.sample(Key(5), field, {}), beside(unit.sample(Key(5), more, {})))) << width;
  }
}

TEST(Cardinality, ComplainsAboutARowWithTooManyUnitsOn) {
  at::Tensor state = at::zeros({3, 4});
  EXPECT_EQ(Cardinality(4, 2).complaint(state), "");
  state[1].fill_(1);
  support::expect_mentions(Cardinality(4, 2).complaint(state), {"row 1", "more than 2"});
}

}  // namespace
}  // namespace harmonium
