#include "harmonium/geometry/conservative.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

Conservative conservative_for(const at::Tensor& x, Conservative::Rules rules = {}) {
  return {{{.names = {"x"}}}, Moments{{"x", x}}, rules};
}
at::Tensor direction_of(Conservative& optimizer, const at::Tensor& gradient, std::int64_t update) {
  return optimizer.direction(Moments{{"x", gradient}}, update).pairwise["x"];
}

// The header's formula, number by number, over gradients of many sizes; every rule is the smallest somewhere.
TEST(Conservative, TakesTheSmallestOfItsFourSteps) {
  const Conservative::Rules rules{.largest = 0.4, .plain = 2, .saturation = 2};
  Conservative optimizer = conservative_for(at::zeros({40}, at::kDouble), rules);
  std::vector<double> fast(40), slow(40);
  std::array<int, 4> ruled{};
  for (std::int64_t t = 0; t < 3000; ++t) {
    const at::Tensor g = normal(Key(static_cast<std::uint64_t>(t)), {40}, at::kDouble) *
                         at::pow(10, at::linspace(-3, 0.5, 40, at::kDouble));
    const at::Tensor found = direction_of(optimizer, g, t);
    const double start = t == 0 ? 100 * g.square().mean().item<double>() : 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const double gradient = g[static_cast<std::int64_t>(i)].item<double>(), size = std::abs(gradient);
      if (t == 0) fast[i] = slow[i] = start;
      fast[i] += (size * size - fast[i]) / std::exp(3.0);
      slow[i] += (size * size - slow[i]) / std::exp(6.0);
      const double square = std::max({fast[i], slow[i], size * size});
      const std::array steps = {0.4, 2 * size, size / std::sqrt(square), 2 * size / square};
      const auto least = std::min_element(steps.begin(), steps.end());
      ++ruled[static_cast<std::size_t>(least - steps.begin())];
      EXPECT_NEAR(found[static_cast<std::int64_t>(i)].item<double>(), std::copysign(*least, gradient), 1e-10);
    }
    const std::map<std::string, double> shares = optimizer.measurements();
    EXPECT_NEAR(shares.at("rule1") + shares.at("rule2") + shares.at("rule3") + shares.at("rule4"), 1, 1e-12);
  }
  for (const int count : ruled) EXPECT_GT(count, 0);
}

// One parameter a rule, by hand: the averages are those of a constant gradient, which the square itself equals.
TEST(Conservative, LetsEachRuleRuleWhereItIsTheSmallest) {
  const at::Tensor g = at::tensor({1.0}, at::kDouble);
  const auto found = [&](Conservative::Rules rules) {
    Conservative optimizer = conservative_for(g, rules);
    at::Tensor step;
    for (std::int64_t t = 0; t < 6000; ++t) step = direction_of(optimizer, g, t);
    const std::map<std::string, double> shares = optimizer.measurements();
    for (const char* rule : {"rule1", "rule2", "rule3", "rule4"})
      if (shares.at(rule) == 1) return std::pair(std::string(rule), step.item<double>());
    return std::pair(std::string("none"), step.item<double>());
  };
  const auto expect = [&](Conservative::Rules rules, const char* rule, double step) {
    const auto [name, size] = found(rules);
    EXPECT_EQ(name, rule);
    EXPECT_NEAR(size, step, 1e-4);
  };
  expect({.largest = 0.25, .plain = 3, .saturation = 2}, "rule1", 0.25);
  expect({.largest = 5, .plain = 0.5, .saturation = 2}, "rule2", 0.5);
  expect({.largest = 5, .plain = 3, .saturation = 2}, "rule3", 1);
  expect({.largest = 5, .plain = 3, .saturation = 0.2}, "rule4", 0.2);
}

TEST(Conservative, MovesARescaledParameterLessUnderRuleFour) {
  Conservative one = conservative_for(at::zeros({1}, at::kDouble), {.saturation = 1e-6}),
               ten = conservative_for(at::zeros({1}, at::kDouble), {.saturation = 1e-6});
  for (std::int64_t t = 0; t < 20; ++t) {
    const at::Tensor g = normal(Key(static_cast<std::uint64_t>(t)), {1}, at::kDouble);
    EXPECT_NEAR(direction_of(one, g, t).item<double>(), 10 * direction_of(ten, 10 * g, t).item<double>(), 1e-15);
    EXPECT_EQ(one.measurements().at("rule4"), 1);
  }
}

TEST(Conservative, DoesNotMoveWhatHasNoGradient) {
  Conservative optimizer = conservative_for(at::zeros({2}));
  for (std::int64_t t = 0; t < 1100; ++t) {
    const at::Tensor step = direction_of(optimizer, at::tensor({0.0F, 1e-3F}), t);
    ASSERT_EQ(step[0].item<float>(), 0);
    ASSERT_TRUE(at::isfinite(step).all().item<bool>());
  }
  EXPECT_EQ(direction_of(optimizer, at::zeros({2}), 1100).abs().sum().item<float>(), 0);
}

TEST(Conservative, FindsItsSaturationFromTheFirstBatchAndThenFromAverages) {
  Conservative optimizer = conservative_for(at::zeros({3}, at::kDouble));
  const at::Tensor g = at::tensor({0.0, 0.5, 3.0}, at::kDouble);
  (void)direction_of(optimizer, g, 0);
  EXPECT_EQ(optimizer.measurements().at("saturation"), 0.5) << "of those that move, the lower median";
  for (std::int64_t t = 1; t <= 1000; ++t) (void)direction_of(optimizer, 2 * g, t);
  EXPECT_NEAR(optimizer.measurements().at("saturation"), 1, 1e-6);
  for (std::int64_t t = 1001; t < 1100; ++t) (void)direction_of(optimizer, 7 * g, t);
  EXPECT_NEAR(optimizer.measurements().at("saturation"), 1, 1e-6) << "fixed by then";
}

TEST(Conservative, GoesOnFromItsStateBitForBit) {
  const auto gradient = [](std::int64_t t) { return normal(Key(static_cast<std::uint64_t>(t)), {50}); };
  Conservative whole = conservative_for(at::zeros({50})), resumed = conservative_for(at::zeros({50}));
  for (std::int64_t t = 0; t < 1200; ++t) {
    if (t == 600) {
      NamedTensors saved;
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
      resumed.restore(saved);
    }
    const at::Tensor step = direction_of(whole, gradient(t), t);
    if (t >= 600) {
      ASSERT_TRUE(at::equal(direction_of(resumed, gradient(t), t), step)) << t;
    }
  }
}

// 81 curvatures from 10⁻⁴ to 10⁴, all begun at 1: no rate of plain descent could be right for all of them.
TEST(Conservative, DescendsABowlOfVeryDifferentCurvatures) {
  const at::Tensor curvature = at::pow(10, at::linspace(-4, 4, 81, at::kDouble));
  at::Tensor x = at::ones({81}, at::kDouble);
  Conservative optimizer = conservative_for(x, {.saturation = 5 / 1e-3});
  const auto loss = [&] { return 0.5 * (curvature * x.square()).sum().item<double>(); };
  EXPECT_NEAR(loss(), 24'311, 1);
  constexpr std::int64_t updates = 20'000;
  for (std::int64_t t = 0; t < updates; ++t) {
    const double rate = 1e-3 * (1 - static_cast<double>(t) / updates);
    x -= rate * direction_of(optimizer, curvature * x, t);
  }
  EXPECT_LT(loss(), 1e-3);
}

}  // namespace
}  // namespace harmonium
