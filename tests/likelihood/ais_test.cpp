#include "harmonium/likelihood/ais.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::randomized;

std::vector<support::MachineCase> annealed_machines(std::uint64_t seed, double scale) {
  const auto make = [=](const BoltzmannMachine& machine) {
    return [=] { return randomized(machine.to(at::kDouble), seed, scale); };
  };
  return {{"BernoulliBernoulli", make(make_rbm("bernoulli:10", "bernoulli:6"))},
          {"SoftmaxBernoulli", make(make_rbm("softmax:4x3", "bernoulli:6"))},
          {"GaussianBernoulli", make(make_rbm("gaussian:4", "bernoulli:6"))},
          {"BernoulliGaussian", make(make_rbm("bernoulli:6", "gaussian:4"))},
          {"ClassificationRbm", make(make_classification_rbm("bernoulli:6", 3, "bernoulli:5"))},
          {"ThreeLayerChain", make(make_chain({"bernoulli:5", "bernoulli:5", "softmax:2x2"}))},
          {"FourLayerChain", make(make_chain({"bernoulli:5", "bernoulli:4", "bernoulli:4", "bernoulli:3"}))},
          {"MarkovField", make(make_mrf("bernoulli:8"))},
          {"SemiRestrictedPotts", make(make_semi_restricted("softmax:4x3", "bernoulli:4"))}};
}

// E[w] = Z / Z_0 whatever the number of steps: with one or four, the weights vary much and the mean must still be
// right. 5.5 standard errors: false-alarm rate 4e-8 for each machine.
TEST(Ais, WeightsAreUnbiasedForZHoweverFewTheSteps) {
  const support::ThreadCount one_thread(1);
  for (const support::MachineCase& one : annealed_machines(70, 0.4))
    for (const std::int64_t betas : {1, 4}) {
      SCOPED_TRACE(one.name + " in " + std::to_string(betas) + " steps");
      const BoltzmannMachine machine = one.make();
      const AisResult result = ais(machine, base_rate_parameters(machine, Key(71)),
                                   {.chains = 6'000, .betas = betas, .chains_at_once = 6'000, .seed = 72});
      ASSERT_EQ(result.log_weights.sizes(), at::IntArrayRef({6'000}));
      const at::Tensor ratio = (result.log_weights - exact_log_z(machine).value).exp();
      support::expect_mean(ratio, at::ones({}, at::kDouble));
      EXPECT_GT(ratio.std().item<double>(), 0.003) << "weights that do not vary test nothing";
    }
}

// 36 intervals of 95 %: fewer than 29 cover with probability 4e-4 (binomial), if the intervals keep their promise.
TEST(Ais, IntervalsCoverTheExactValueAsOftenAsTheySay) {
  const support::ThreadCount one_thread(1);
  int covered = 0, all = 0;
  for (const std::uint64_t seed : {73U, 74U, 75U, 76U})
    for (const support::MachineCase& one : annealed_machines(seed, 0.7)) {
      SCOPED_TRACE(one.name);
      const BoltzmannMachine machine = one.make();
      const Estimate estimate =
          ais(machine, base_rate_parameters(machine, Key(77)), {.chains = 200, .betas = 200, .seed = seed}).log_z;
      const double exact = exact_log_z(machine).value;
      EXPECT_LT(estimate.high - estimate.low, 0.5) << "an interval that wide covers anything";
      EXPECT_NEAR(estimate.value, exact, 0.5);
      covered += estimate.low <= exact && exact <= estimate.high ? 1 : 0;
      ++all;
    }
  EXPECT_EQ(all, 36);
  EXPECT_GE(covered, 29);
}

TEST(Ais, GrowsMorePreciseWithMoreSteps) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:10", "bernoulli:6", at::kDouble), 78, 2.0);
  const Moments base = base_rate_parameters(machine, Key(79));
  const auto few = ais(machine, base, {.chains = 400, .betas = 1}).log_z,
             many = ais(machine, base, {.chains = 400, .betas = 300}).log_z;
  EXPECT_LT(few.effective_samples.value(), 0.8 * many.effective_samples.value());
  EXPECT_GT(few.high - few.low, many.high - many.low);
}

TEST(Ais, OfAFloatMachineCoversTheExactValue) {
  const BoltzmannMachine machine =
      randomized(make_rbm("bernoulli:10", "bernoulli:6", at::kDouble), 80, 0.7).to(at::kFloat);
  const Estimate estimate =
      ais(machine, base_rate_parameters(machine, Key(81)), {.chains = 200, .betas = 500, .seed = 82}).log_z;
  const double exact = exact_log_z(machine).value;
  EXPECT_LE(estimate.low, exact);
  EXPECT_GE(estimate.high, exact);
}

TEST(Ais, WithoutWeightsOrDistanceIsExact) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:5", "bernoulli:4", at::kDouble), 83);
  Moments base = machine.parameters().clone();
  base["visible_hidden.weights"].zero_();
  const Estimate estimate = ais(machine.with_parameters(base), base, {.chains = 10, .betas = 7}).log_z;
  double expected = 0;
  for (const std::string name : {"visible.bias", "hidden.bias"})
    expected += (1 + base[name].exp()).log().sum().item<double>();
  EXPECT_NEAR(estimate.value, expected, 1e-12);
  EXPECT_NEAR(estimate.high - estimate.low, 0, 1e-12);
  EXPECT_NEAR(estimate.effective_samples.value(), 10, 1e-9);
}

class AisOnOneMachine : public testing::Test {
 protected:
  [[nodiscard]] at::Tensor weights(const AisOptions& options) const { return ais(machine, base, options).log_weights; }
  [[nodiscard]] std::string complaint(const AisOptions& options) const {
    return support::message_of([&] { static_cast<void>(ais(machine, base, options)); });
  }
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:6", "bernoulli:4", at::kDouble), 84);
  const Moments base = base_rate_parameters(machine, Key(85));
};

TEST_F(AisOnOneMachine, SaysWhatItIs) {
  const Estimate estimate = ais(machine, base, {.chains = 20, .betas = 10}).log_z;
  EXPECT_EQ(estimate.kind, EstimateKind::unbiased_estimate);
  EXPECT_EQ(estimate.method, "ais");
  EXPECT_EQ(estimate.chains, 20);
  EXPECT_EQ(estimate.betas, 10);
  EXPECT_LE(estimate.low, estimate.value);
  EXPECT_GE(estimate.high, estimate.value);
}

TEST_F(AisOnOneMachine, AListOfTheSameStepsGivesTheSameWeights) {
  const at::Tensor even = weights({.chains = 50, .betas = 4});
  EXPECT_TRUE(at::equal(even, weights({.chains = 50, .schedule = {0, 0.25, 0.5, 0.75, 1}})));
  EXPECT_FALSE(at::equal(even, weights({.chains = 50, .schedule = {0, 0.2, 0.5, 0.75, 1}})));
}

TEST_F(AisOnOneMachine, UnevenStepsAreUnbiasedToo) {
  // 5.5 standard errors: false-alarm rate 4e-8.
  const at::Tensor log_weights =
      weights({.chains = 6'000, .schedule = {0, 0.05, 0.05, 0.4, 1}, .chains_at_once = 6'000});
  support::expect_mean((log_weights - exact_log_z(machine).value).exp(), at::ones({}, at::kDouble));
}

TEST_F(AisOnOneMachine, ChainsInGroupsAreAsManyIndependentAndUnbiased) {
  const at::Tensor grouped = weights({.chains = 5'001, .betas = 2, .chains_at_once = 1000});
  ASSERT_EQ(grouped.sizes(), at::IntArrayRef({5'001}));
  support::expect_mean((grouped - exact_log_z(machine).value).exp(), at::ones({}, at::kDouble));
  EXPECT_FALSE(at::equal(grouped.narrow(0, 0, 1000), grouped.narrow(0, 1000, 1000)))
      << "groups must not repeat each other";
  EXPECT_TRUE(at::equal(grouped.narrow(0, 0, 1000), weights({.chains = 1000, .betas = 2, .chains_at_once = 1000})));
}

TEST_F(AisOnOneMachine, DependsOnTheSeedAloneAndNotOnThreads) {
  at::Tensor one, two;
  {
    const support::ThreadCount limit(1);
    one = weights({.chains = 30, .betas = 20, .seed = 5});
  }
  {
    const support::ThreadCount limit(2);
    two = weights({.chains = 30, .betas = 20, .seed = 5});
  }
  EXPECT_TRUE(at::equal(one, two));
  EXPECT_FALSE(at::equal(one, weights({.chains = 30, .betas = 20, .seed = 6})));
}

TEST_F(AisOnOneMachine, RefusesBadSchedules) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using support::expect_mentions;
  expect_mentions(complaint({.schedule = {0.1, 1}}), {"starts at 0"});
  expect_mentions(complaint({.schedule = {0, 0.9}}), {"ends at 1"});
  expect_mentions(complaint({.schedule = {0}}), {"starts at 0"});
  expect_mentions(complaint({.schedule = {0, 0.7, 0.3, 1}}), {"increase"});
  expect_mentions(complaint({.schedule = {0, nan, 1}}), {"increase"});
  expect_mentions(complaint({.betas = 0}), {"β"});
  expect_mentions(complaint({.chains = 0}), {"chain"});
  expect_mentions(complaint({.chains_at_once = 0}), {"chain"});
}

TEST_F(AisOnOneMachine, ReportsProgressAndStopsWhenItThrows) {
  std::int64_t calls = 0;
  static_cast<void>(
      ais(machine, base, {.chains = 5, .betas = 3, .chains_at_once = 2}, [&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(done, ++calls);
        EXPECT_EQ(total, 9);
      }));
  EXPECT_EQ(calls, 9);
  EXPECT_THROW(static_cast<void>(ais(machine, base, {.chains = 5, .betas = 3},
                                     [](std::int64_t, std::int64_t) { throw RunFailure("enough"); })),
               RunFailure);
}

// One of three layers, each joined to both others, is summed out and two are kept. 5.5 standard errors (4e-8).
TEST(Ais, IsUnbiasedForMachinesOfMoreThanTwoBlocks) {
  const auto unit = make_unit("bernoulli:3");
  const BoltzmannMachine triangle = randomized(
      {{{"a", unit, true}, {"b", unit}, {"c", unit}}, {{"a", "b"}, {"b", "c"}, {"a", "c"}}, at::kDouble}, 85);
  const at::Tensor log_weights =
      ais({uniform_base(triangle), {triangle}, {0, 0.3, 0.6, 1}}, 6'000, {.chains_at_once = 6'000}).log_weights;
  support::expect_mean((log_weights - exact_log_z(triangle).value).exp(), at::ones({}, at::kDouble));
}

TEST(BaseRates, MatchTheMomentsOfTheDataAndKnowNothingOfTheHidden) {
  const BoltzmannMachine machine =
      randomized(make_classification_rbm("bernoulli:4", 3, "bernoulli:3", at::kDouble), 86);
  const at::Tensor p = at::tensor({0.0, 0.2, 0.9, 1.0}, at::kDouble), q = at::tensor({0.5, 0.5, 0.0}, at::kDouble);
  const Moments base = base_rate_parameters(machine, {{p}, {q}}, 0.01);
  support::expect_close(at::sigmoid(base["visible.bias"]), 0.98 * p + 0.01, 1e-12);
  support::expect_close(at::softmax(base["label.bias"], 0), 0.97 * q + 0.01, 1e-12);
  for (const std::string name : {"hidden.bias", "visible_hidden.weights", "label_hidden.weights"})
    EXPECT_EQ(base[name].count_nonzero().item<std::int64_t>(), 0) << name;
  support::expect_mentions(support::message_of([&] { static_cast<void>(base_rate_parameters(machine, {{p}})); }),
                           {"1", "2"});
}

}  // namespace
}  // namespace harmonium
