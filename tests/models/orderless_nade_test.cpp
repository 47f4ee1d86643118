#include "harmonium/models/autoregressive/orderless_nade.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/kernels/random.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

OrderlessNade random_orderless(const std::string& visible, std::vector<std::int64_t> hidden, std::int64_t orders = 3,
                               std::int64_t refinements = 1) {
  OrderlessNade net({.visible = visible,
                     .hidden = std::move(hidden),
                     .activation = Activation::tanh,
                     .refinements = refinements,
                     .orders = orders,
                     .seed = 4},
                    at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}

std::vector<at::Tensor> all_orders(std::int64_t variables) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(variables));
  std::iota(order.begin(), order.end(), 0);
  std::vector<at::Tensor> result;
  do result.push_back(at::tensor(order, at::kLong));
  while (std::ranges::next_permutation(order).found);
  return result;
}

// Conditional by conditional from the net that is shown a set, with nothing kept between steps.
at::Tensor log_p_by_definition(const OrderlessNade& net, const at::Tensor& rows, const at::Tensor& order) {
  at::Tensor total = at::zeros({rows.size(0)}, at::kDouble);
  at::Tensor shown = at::zeros({rows.size(0), net.visible().variables()}, at::kDouble);
  for (std::int64_t k = 0; k < order.size(0); ++k) {
    const auto i = order[k].item<std::int64_t>();
    total += net.visible().log_prob_each(rows, net.raw(net.parameters(), rows, shown)).select(1, i);
    shown.select(1, i).fill_(1);
  }
  return total;
}

class OrderlessNadeRefined : public testing::TestWithParam<std::int64_t> {};  // so many times
INSTANTIATE_TEST_SUITE_P(Times, OrderlessNadeRefined, testing::Values(1, 2, 5));

TEST_P(OrderlessNadeRefined, IsADistributionForEveryOrderAndEveryEnsemble) {
  const OrderlessNade net = random_orderless("bernoulli:8", {6, 5}, 3, GetParam());
  const at::Tensor rows = all_rows(8);
  for (std::int64_t number = 0; number < 5; ++number) {
    const at::Tensor log_p = net.log_conditionals(rows, net.order(number)).sum(1);
    EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-12);
    expect_close(log_p, log_p_by_definition(net, rows, net.order(number)), 1e-12);
  }
  at::Tensor mean = at::zeros({256}, at::kDouble);
  for (std::int64_t number = 0; number < 3; ++number)
    mean += net.log_conditionals(rows, net.order(number)).sum(1).exp() / 3;
  expect_close(net.log_probabilities(rows).exp(), mean, 1e-13);
  EXPECT_NEAR(net.log_probabilities(rows, 7).exp().sum().item<double>(), 1, 1e-12);
  EXPECT_FALSE(at::equal(net.order(0), net.order(1)));
}

TEST_P(OrderlessNadeRefined, OfCategoriesWalksAsItPasses) {
  const OrderlessNade net = random_orderless("categorical:4x3", {7}, 3, GetParam());
  const at::Tensor rows =
      at::one_hot((uniform(Key(1), {10, 4}, at::kDouble) * 3).to(at::kLong), 3).to(at::kDouble).reshape({10, 12});
  for (std::int64_t number = 0; number < 3; ++number)
    expect_close(net.log_conditionals(rows, net.order(number)).sum(1),
                 log_p_by_definition(net, rows, net.order(number)), 1e-12);
}

TEST(OrderlessNade, OfMixturesWalksAsItPasses) {
  const OrderlessNade net = random_orderless("gaussian_mixture:4x3", {7});
  const at::Tensor rows = normal(Key(1), {10, 4}, at::kDouble);
  for (std::int64_t number = 0; number < 3; ++number)
    expect_close(net.log_conditionals(rows, net.order(number)).sum(1),
                 log_p_by_definition(net, rows, net.order(number)), 1e-12);
}

// All sets of all sizes, weighed as they are drawn, against all 24 orders.
TEST(OrderlessNade, ClimbsTheMeanOverAllOrdersOfItsLogLikelihood) {
  const OrderlessNade net = random_orderless("bernoulli:4", {5, 3});
  const at::Tensor rows = all_rows(4);
  at::Tensor over_orders = at::zeros({16}, at::kDouble);
  const std::vector<at::Tensor> orders = all_orders(4);
  ASSERT_EQ(orders.size(), 24U);
  for (const at::Tensor& order : orders) over_orders += net.log_conditionals(rows, order).sum(1) / 24.0;
  at::Tensor expected = at::zeros({16}, at::kDouble);
  const double binomials[] = {1, 4, 6, 4};
  for (int set = 0; set < 15; ++set) {  // every one but the full one
    const at::Tensor shown = all_rows(4)[set].unsqueeze(0).expand({16, 4});
    const auto size = static_cast<std::size_t>(shown[0].sum().item<double>());
    expected += net.log_prob_estimate(net.parameters(), rows, shown) / (4 * binomials[size]);
  }
  expect_close(expected, over_orders, 1e-12);
}

// What is not shown takes the net's own means, three times in turn.
TEST(OrderlessNade, RefinesAsItsHeaderSays) {
  const OrderlessNade net = random_orderless("bernoulli:4", {5}, 1, 3);
  const Moments& p = net.parameters();
  const at::Tensor rows = all_rows(4), shown = all_rows(4).flip(0);
  at::Tensor means = p["start.bias"].expand({16, 4}), raw;
  for (int t = 0; t < 3; ++t) {
    const at::Tensor inputs = at::where(shown.eq(1), rows, means);
    const at::Tensor hidden = (inputs.mm(p["layer1.weights"]) + shown.mm(p["shown.weights"]) + p["layer1.bias"]).tanh();
    raw = hidden.mm(p["output.weights"]) + p["output.bias"];
    means = raw.sigmoid();
  }
  expect_close(net.raw(p, rows, shown), raw, 1e-12);
}

// The sum over refinements 1 … k less that over 1 … k − 1 is what refinement k says: all weigh the same.
TEST(OrderlessNade, ClimbsTheMeanOverItsRefinements) {
  const at::Tensor rows = all_rows(4).narrow(0, 0, 15), shown = all_rows(4).narrow(0, 0, 15).flip(0);
  const auto estimate = [&](std::int64_t k) {
    const OrderlessNade net = random_orderless("bernoulli:4", {5}, 1, k);
    return static_cast<double>(k) * net.log_prob_estimate(net.parameters(), rows, shown);
  };
  const OrderlessNade net = random_orderless("bernoulli:4", {5}, 1, 3);
  const at::Tensor hidden = 1 - shown;
  const at::Tensor last =
      (net.visible().log_prob_each(rows, net.raw(net.parameters(), rows, shown)) * hidden).sum(1) * 4 / hidden.sum(1);
  expect_close(estimate(3) - estimate(2), last, 1e-12);
}

TEST(OrderlessNade, ShowsSetsOfEverySizeEquallyOften) {
  const OrderlessNade net = random_orderless("bernoulli:5", {2});
  constexpr std::int64_t rows = 20000;
  for (const std::int64_t number : {1, 3}) {
    const at::Tensor shown = net.draw_shown(Key(7), rows, number, at::kDouble);
    ASSERT_EQ(shown.sizes(), (std::vector<std::int64_t>{rows * number, 5}));
    const at::Tensor codes = (shown.to(at::kLong) * at::pow(2, at::arange(5, at::kLong))).sum(1);
    support::Row wanted;
    const double binomials[] = {1, 5, 10, 10, 5};
    for (int set = 0; set < 32; ++set) {
      const int size = __builtin_popcount(static_cast<unsigned>(set));
      wanted.push_back(size == 5 ? 0 : 1 / (5 * binomials[size]));
    }
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 32)), wanted);
    // With several sets of a row their sizes come from equal parts of 0 … 4.
    if (number == 3) {
      const at::Tensor sizes = shown.sum(1).reshape({rows, 3});
      EXPECT_LE(sizes.select(1, 0).max().item<double>(), 1);
      EXPECT_GE(sizes.select(1, 2).min().item<double>(), 3);
    }
  }
}

TEST_P(OrderlessNadeRefined, DrawsItsOwnEnsemble) {
  const OrderlessNade net = random_orderless("bernoulli:5", {6, 4}, 3, GetParam());
  const OrderedDraw drawn = net.sample(Key(2), 20000);
  const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(5, at::kLong))).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 32)),
                              support::numbers(net.log_probabilities(all_rows(5)).exp()));
}

// Rows with different known columns at once; what is free has the mean over orders of the conditional chain.
TEST(OrderlessNade, CompletesAnythingGivenAnything) {
  const OrderlessNade net = random_orderless("bernoulli:4", {6});
  constexpr std::int64_t count = 20000;
  at::Tensor known = at::full({2 * count, 4}, std::nan(""), at::kDouble);
  known.narrow(0, 0, count).select(1, 2).fill_(1);
  known.narrow(0, count, count).select(1, 0).fill_(0);
  known.narrow(0, count, count).select(1, 3).fill_(1);
  const OrderedDraw drawn = net.complete(Key(3), known);
  const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
  const at::Tensor rows = all_rows(4);
  const auto expected = [&](const std::vector<std::pair<std::int64_t, double>>& held) {
    at::Tensor p = at::zeros({16}, at::kDouble), fits = at::ones({16}, at::kBool);
    double number = 0;
    for (const auto& [column, value] : held) fits = fits.logical_and(rows.select(1, column).eq(value));
    for (const at::Tensor& order : all_orders(4)) {
      const auto is_held = [&](std::int64_t i) {
        return std::ranges::any_of(held, [&](const auto& each) { return each.first == i; });
      };
      bool first = true;
      for (std::size_t k = 0; k < held.size(); ++k)
        first = first && is_held(order[std::int64_t(k)].item<std::int64_t>());
      if (!first) continue;
      at::Tensor each = net.log_conditionals(rows, order);
      for (const auto& [column, value] : held) each.select(1, column).zero_();
      p += each.sum(1).exp() * fits;
      number += 1;
    }
    return p / number;
  };
  support::expect_frequencies(support::numbers(at::bincount(codes.narrow(0, 0, count), {}, 16)),
                              support::numbers(expected({{2, 1.0}})));
  support::expect_frequencies(support::numbers(at::bincount(codes.narrow(0, count, count), {}, 16)),
                              support::numbers(expected({{0, 0.0}, {3, 1.0}})));
}

TEST_P(OrderlessNadeRefined, HasTheGradientOfItsFiniteDifferences) {
  const OrderlessNade net = random_orderless("bernoulli:4", {3, 2}, 3, GetParam());
  const at::Tensor rows = all_rows(4).narrow(0, 4, 6), shown = net.draw_shown(Key(1), 6, 1, at::kDouble);
  const Moments leaves = net.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
  net.log_prob_estimate(leaves, rows, shown).mean().backward();
  for (const auto& [name, value] : net.parameters().entries())
    for (std::int64_t i = 0; i < value.numel(); ++i) {
      constexpr double step = 1e-5;
      const auto moved = [&](double by) {
        Moments other = net.parameters().clone();
        other[name].view({-1})[i] += by;
        return net.log_prob_estimate(other, rows, shown).mean().item<double>();
      };
      EXPECT_NEAR(leaves[name].grad().reshape({-1})[i].item<double>(), (moved(step) - moved(-step)) / (2 * step), 1e-8)
          << name << " " << i;
    }
}

TEST(OrderlessNade, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { OrderlessNade({.visible = "bernoulli:3", .hidden = {}}); }), {"hidden layer"});
  expect_mentions(message_of([] { OrderlessNade({.visible = "bernoulli:3", .orders = 0}); }), {"order"});
  expect_mentions(message_of([] { OrderlessNade({.visible = "bernoulli:3", .refinements = 0}); }), {"0 times"});
  const OrderlessNade net({.visible = "bernoulli:3", .hidden = {2}});
  expect_mentions(message_of([&] {
                    (void)net.raw(net.parameters(), at::zeros({2, 5}), at::zeros({2, 3}));
                  }),
                  {"3", "5"});
}

}  // namespace
}  // namespace harmonium
