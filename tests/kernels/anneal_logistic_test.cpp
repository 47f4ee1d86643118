#include "harmonium/kernels/anneal_logistic.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Shapes around the edges of rows and of chunks of 512 uniforms.
class AnnealLogistic : public testing::TestWithParam<std::tuple<at::ScalarType, std::int64_t, std::int64_t>> {
 protected:
  const at::ScalarType type = std::get<0>(GetParam());
  const std::int64_t rows = std::get<1>(GetParam()), columns = std::get<2>(GetParam());
  const double rounding = type == at::kFloat ? 1e-5 : 1e-13;
  const at::Tensor x = 3 * normal(Key(1), {rows, columns}, type), y = 3 * normal(Key(2), {rows, columns}, type),
                   b0 = normal(Key(3), {columns}, type), b1 = normal(Key(4), {columns}, type);
};

// A unit whose uniform falls between two roundings of its probability may differ.
void expect_same_draws(const at::Tensor& actual, const at::Tensor& expected) {
  EXPECT_LE(actual.ne(expected).to(at::kDouble).sum().item<double>(), 1e-6 * static_cast<double>(actual.numel()));
}

TEST_P(AnnealLogistic, DrawsWhatTheFieldAddedUpWouldDraw) {
  expect_same_draws(sample_logistic(Key(5), ScaledField{x, b0, 0.3}), sample_logistic(Key(5), b0 + 0.3 * x));
  expect_same_draws(sample_logistic(Key(5), ScaledField{x.t().contiguous().t(), b0, 0.3}),
                    sample_logistic(Key(5), b0 + 0.3 * x));
}

TEST_P(AnnealLogistic, AddsTheDifferenceOfLogPartitionsAndDrawsFromTheLatter) {
  const at::Tensor start = normal(Key(6), {rows}, at::kDouble);
  at::Tensor log_weights = start.clone();
  const at::Tensor drawn = anneal_logistic(Key(7), {x, b0, 0.25}, {y, b1, 0.5}, log_weights);
  expect_same_draws(drawn, sample_logistic(Key(7), b1 + 0.5 * y));
  const at::Tensor expected = start + softplus_row_sums(b1 + 0.5 * y) - softplus_row_sums(b0 + 0.25 * x);
  support::expect_close(log_weights, expected, rounding * static_cast<double>(columns));
}

TEST_P(AnnealLogistic, DoesNotDependOnThreads) {
  std::vector<at::Tensor> weights, draws;
  for (const int threads : {1, 2}) {
    const support::ThreadCount limit(threads);
    weights.push_back(at::zeros({rows}, at::kDouble));
    draws.push_back(anneal_logistic(Key(7), {x, b0, 0.25}, {y, b1, 0.5}, weights.back()));
  }
  EXPECT_TRUE(at::equal(weights[0], weights[1]));
  EXPECT_TRUE(at::equal(draws[0], draws[1]));
}

INSTANTIATE_TEST_SUITE_P(, AnnealLogistic,
                         testing::Combine(testing::Values(at::kFloat, at::kDouble), testing::Values(1, 3, 100),
                                          testing::Values(1, 7, 512, 513, 1100)));

TEST(AnnealLogisticArguments, AreChecked) {
  const at::Tensor input = at::zeros({3, 4}), bias = at::zeros({4}), short_bias = at::zeros({3}),
                   other = at::zeros({2, 4}), wide = at::zeros({3, 4}, at::kDouble);
  at::Tensor weights = at::zeros({3}, at::kDouble), few = at::zeros({2}, at::kDouble), low = at::zeros({3});
  const auto complaint = [&](const ScaledField& before, const ScaledField& after, at::Tensor& into) {
    return support::message_of([&] { static_cast<void>(anneal_logistic(Key(1), before, after, into)); });
  };
  EXPECT_EQ(complaint({input, bias}, {input, bias}, weights), "");
  support::expect_mentions(complaint({input, short_bias}, {input, bias}, weights), {"bias"});
  support::expect_mentions(complaint({other, bias}, {input, bias}, weights), {"shape"});
  support::expect_mentions(complaint({wide, bias}, {input, bias}, weights), {"float32"});
  support::expect_mentions(complaint({input, bias}, {input, bias}, few), {"3 rows"});
  support::expect_mentions(complaint({input, bias}, {input, bias}, low), {"float64"});
}

}  // namespace
}  // namespace harmonium
