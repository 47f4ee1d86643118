// Word counts against what they stand for: D words drawn one by one under one field, every order of them written out.
#include "harmonium/units/counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::to_tensor;

// Counts of every order of `length` words out of `words`, words^length rows.
at::Tensor all_orders(std::int64_t words, std::int64_t length) {
  at::Tensor counts = at::zeros({1, words}, at::kDouble);
  for (std::int64_t i = 0; i < length; ++i)
    counts = (counts.unsqueeze(1) + at::eye(words, at::kDouble).unsqueeze(0)).reshape({-1, words});
  return counts;
}

class WordCounts : public testing::Test {
 protected:
  static constexpr std::int64_t vocabulary = 3;

  // Σ over orders of e^{field·x} g(x), row by row.
  [[nodiscard]] at::Tensor sum_over_orders(const std::function<at::Tensor(const at::Tensor&)>& g) const {
    std::vector<at::Tensor> sums;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      const at::Tensor orders = all_orders(vocabulary, lengths[row]);
      const at::Tensor weight = orders.matmul(words[static_cast<std::int64_t>(row)]).exp();
      sums.push_back((weight.reshape({-1, 1}) * g(orders).reshape({orders.size(0), -1})).sum(0));
    }
    return at::stack(sums);
  }

  const Counts unit{vocabulary};
  const Unit::Parameters none = {at::zeros({vocabulary}, at::kDouble)};
  const std::vector<std::int64_t> lengths = {0, 1, 2, 4, 7};
  const at::Tensor words = 1.5 * normal(Key(71), {5, vocabulary}, at::kDouble);
  const at::Tensor field = at::cat({words, at::tensor(lengths, at::kDouble).unsqueeze(1)}, 1);
};

TEST_F(WordCounts, SumOverAllOrders) {
  const at::Tensor z = sum_over_orders([](const at::Tensor& x) { return at::ones({x.size(0)}, at::kDouble); });
  expect_close(unit.log_partition(field, none), z.log().squeeze(1), 1e-12);
  const at::Tensor mean = sum_over_orders([](const at::Tensor& x) { return x; }) / z;
  expect_close(unit.mean(field, none), mean, 1e-12);
  const at::Tensor square = sum_over_orders([](const at::Tensor& x) { return x * x; }) / z;
  expect_close(unit.expected_square(field, none), square, 1e-12);
  const at::Tensor products = sum_over_orders([](const at::Tensor& x) { return x.unsqueeze(2) * x.unsqueeze(1); }) / z;
  const at::Tensor covariance = products.reshape({-1, vocabulary, vocabulary}) - mean.unsqueeze(2) * mean.unsqueeze(1);
  expect_close(unit.conditional_covariance(field, none, {}), covariance.mean(0), 1e-11);
  const at::Tensor weights = at::softmax(normal(Key(72), {5}, at::kDouble), 0);
  expect_close(unit.conditional_covariance(field, none, weights), (covariance * weights.reshape({-1, 1, 1})).sum(0),
               1e-11);
  // −E[log p of an order]
  expect_close(unit.entropy(field, none), z.log().squeeze(1) - (words * mean).sum(1), 1e-12);
}

TEST_F(WordCounts, ReadLengthsOffTheState) {
  const at::Tensor state = to_tensor({{1.0, 0.0, 3.0}, {0.0, 0.0, 0.0}});
  expect_close(unit.with_own_state(words.narrow(0, 0, 2), state),
               at::cat({words.narrow(0, 0, 2), at::tensor({4.0, 0.0}, at::kDouble).unsqueeze(1)}, 1), 0);
  EXPECT_THROW((void)unit.mean(words, none), Error);  // a field without lengths
  EXPECT_EQ(make_unit("counts:12")->spec(), "counts:12");
}

TEST_F(WordCounts, HaveAModeOfTheMostProbableCounts) {
  const at::Tensor mode = unit.mode(field, none);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto r = static_cast<std::int64_t>(row);
    // Orders with the same counts are added up.
    std::map<std::vector<double>, double> weight;
    const at::Tensor orders = all_orders(vocabulary, lengths[row]);
    const auto key = [](const at::Tensor& x) {
      return std::vector<double>(x.data_ptr<double>(), x.data_ptr<double>() + x.numel());
    };
    for (std::int64_t i = 0; i < orders.size(0); ++i)
      weight[key(orders[i].contiguous())] += std::exp(orders[i].dot(words[r]).item<double>());
    double best = 0;
    for (const auto& [counts, each] : weight) best = std::max(best, each);
    EXPECT_NEAR(weight.at(key(mode[r].contiguous())), best, 1e-12 * best) << "row " << row;
  }
}

// Chi-square over all counts of four words out of three, false-alarm rate 1e-6. Rows of other lengths stand between
// those looked at, so that words which went to another row would show.
TEST_F(WordCounts, AreDrawnWordByWord) {
  constexpr std::int64_t draws = 50'000, length = 4;
  at::Tensor repeated = at::cat({words[3], at::tensor({double{length}}, at::kDouble)}).repeat({2 * draws, 1});
  repeated.slice(0, 1, 2 * draws, 2).slice(1, 0, vocabulary).mul_(-2);
  repeated.slice(0, 1, 2 * draws, 2).select(1, vocabulary).fill_(2);
  const at::Tensor state = unit.sample(Key(73), repeated, none);
  EXPECT_EQ(unit.complaint(state), "");
  EXPECT_TRUE(at::equal(state.sum(1), repeated.select(1, vocabulary)));
  const at::Tensor code = at::tensor({1.0, 10.0, 100.0}, at::kDouble);
  const at::Tensor orders = all_orders(vocabulary, length);
  const at::Tensor p = at::softmax(orders.matmul(words[3]), 0);
  std::map<std::int64_t, std::size_t> place;
  support::Row expected, observed;
  for (std::int64_t i = 0; i < orders.size(0); ++i) {
    const auto name = orders[i].dot(code).to(at::kLong).item<std::int64_t>();
    if (place.try_emplace(name, expected.size()).second) expected.push_back(0);
    expected[place.at(name)] += p[i].item<double>();
  }
  observed.resize(expected.size(), 0);
  const at::Tensor names = state.slice(0, 0, 2 * draws, 2).matmul(code).to(at::kLong);
  for (std::int64_t i = 0; i < draws; ++i) ++observed[place.at(names[i].item<std::int64_t>())];
  ASSERT_EQ(expected.size(), 15U);
  support::expect_frequencies(observed, expected);
}

TEST_F(WordCounts, HaveParametersOfTheirShares) {
  const at::Tensor moments = at::tensor({6.0, 3.0, 0.0}, at::kDouble);
  const at::Tensor p = at::softmax(unit.parameters_of({moments}, 0.03)[0], 0);
  expect_close(p, at::tensor({2.0 / 3 * 0.97 + 0.01, 1.0 / 3 * 0.97 + 0.01, 0.01}, at::kDouble), 1e-12);
  EXPECT_TRUE(unit.parameters_of({at::zeros({3}, at::kDouble)}, 0.03)[0].isfinite().all().item<bool>());
}

TEST_F(WordCounts, ComplainAboutWhatIsNoCount) {
  EXPECT_EQ(unit.complaint(to_tensor({{1.0, 2.0, 0.0}, {0.0, 0.0, 0.0}})), "");
  EXPECT_EQ(unit.complaint(to_tensor({{0.5, 2.0, 0.5}})), "");  // a mean
  EXPECT_NE(unit.complaint(to_tensor({{1.0, 2.0, 0.0}, {1.0, -1.0, 1.0}})).find("row 1"), std::string::npos);
  EXPECT_NE(unit.complaint(to_tensor({{1.0, 2.0, 0.25}})).find("3.25"), std::string::npos);
  EXPECT_NE(unit.complaint(to_tensor({{1.0, NAN, 0.0}})), "");
}

}  // namespace
}  // namespace harmonium
