#include "harmonium/likelihood/log_likelihood.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/exact.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(LogLikelihood, OfEveryPossibleRowSumsToOne) {
  for (const std::string visible : {"bernoulli:4", "softmax:2x3"}) {
    const BoltzmannMachine machine = support::randomized(make_rbm(visible, "bernoulli:3", at::kDouble), 91);
    const State all = machine.observe({support::to_tensor(support::points_of(visible).rows)});
    const at::Tensor log_p = log_unnormalized(machine, all) - exact_log_z(machine).value;
    EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-12);
  }
}

TEST(LogLikelihood, OfAClassificationRbmIsThatOfDataAndLabelTogether) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:2", at::kDouble), 92);
  const support::BruteForce brute(machine);
  const State row = support::to_state({brute.configurations[40]});
  double expected = 0;
  for (std::size_t n = 0; n < brute.configurations.size(); ++n)
    if (brute.configurations[n][0] == brute.configurations[40][0] &&
        brute.configurations[n][1] == brute.configurations[40][1])
      expected += brute.probabilities[n];
  const at::Tensor f = log_unnormalized(machine, machine.observe({row.layers[0], row.layers[1]}));
  EXPECT_NEAR(f.item<double>() - exact_log_z(machine).value, std::log(expected), 1e-12);
}

TEST(LogUnnormalized, DoesNotDependOnItsBlocksOfRows) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:5", "bernoulli:3", at::kDouble), 93);
  const at::Tensor v = (uniform(Key(94), {9001, 5}, at::kDouble) < 0.5).to(at::kDouble);
  const at::Tensor all = log_unnormalized(machine, machine.observe({v}));
  ASSERT_EQ(all.sizes(), at::IntArrayRef({9001}));
  EXPECT_EQ(all.scalar_type(), at::kDouble);
  for (const std::int64_t row : {0, 4095, 4096, 8191, 8192, 9000})
    EXPECT_NEAR(all[row].item<double>(),
                log_unnormalized(machine, machine.observe({v.narrow(0, row, 1)})).item<double>(), 1e-13);
}

Estimate log_z_of(double low, double value, double high, EstimateKind kind) {
  Estimate estimate;
  estimate.low = low;
  estimate.value = value;
  estimate.high = high;
  estimate.kind = kind;
  estimate.method = "some method";
  estimate.chains = 100;
  return estimate;
}

TEST(LogLikelihood, FromAnExactLogZIsExact) {
  const Estimate result = log_likelihood(-3, log_z_of(7, 7, 7, EstimateKind::exact));
  EXPECT_EQ(result.value, -10);
  EXPECT_EQ(result.low, -10);
  EXPECT_EQ(result.high, -10);
  EXPECT_EQ(result.kind, EstimateKind::exact);
}

TEST(LogLikelihood, TurnsTheIntervalOfLogZRound) {
  const Estimate result = log_likelihood(-3, log_z_of(6, 7, 9, EstimateKind::unbiased_estimate));
  EXPECT_EQ(result.value, -10);
  EXPECT_EQ(result.low, -12);
  EXPECT_EQ(result.high, -9);
  EXPECT_EQ(result.kind, EstimateKind::estimate) << "the log of an unbiased estimate of Z claims nothing";
  EXPECT_EQ(result.method, "some method");
  EXPECT_EQ(result.chains, 100);
}

TEST(LogLikelihood, TurnsBoundsRound) {
  const auto turned = [](EstimateKind kind) { return log_likelihood(0, log_z_of(0, 0, 0, kind)).kind; };
  EXPECT_EQ(turned(EstimateKind::lower_bound), EstimateKind::upper_bound);
  EXPECT_EQ(turned(EstimateKind::upper_bound), EstimateKind::lower_bound);
  EXPECT_EQ(turned(EstimateKind::estimate), EstimateKind::estimate);
}

TEST(LogLikelihood, FromABoundOnLogFIsABoundOnlyIfLogZIsNotTooLow) {
  const auto kind_with = [](EstimateKind log_z) { return log_likelihood(0, log_z_of(0, 0, 0, log_z), false).kind; };
  EXPECT_EQ(kind_with(EstimateKind::exact), EstimateKind::lower_bound);
  EXPECT_EQ(kind_with(EstimateKind::upper_bound), EstimateKind::lower_bound);
  for (const EstimateKind kind : {EstimateKind::unbiased_estimate, EstimateKind::lower_bound, EstimateKind::estimate})
    EXPECT_EQ(kind_with(kind), EstimateKind::estimated_lower_bound);
  const Estimate result = log_likelihood(-3, log_z_of(6, 7, 9, EstimateKind::unbiased_estimate), false);
  EXPECT_EQ(result.value, -10);
  EXPECT_EQ(result.low, -12);
  EXPECT_EQ(result.high, -9);
  EXPECT_EQ(result.method, "mean field, some method");
}

TEST(EstimateKind, HasAnotherNameForEveryKind) {
  std::vector<std::string> names;
  for (const EstimateKind kind :
       {EstimateKind::exact, EstimateKind::unbiased_estimate, EstimateKind::lower_bound, EstimateKind::upper_bound,
        EstimateKind::estimated_lower_bound, EstimateKind::estimate})
    names.push_back(to_string(kind));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(std::ranges::find(names, "unknown"), names.end());
}

}  // namespace
}  // namespace harmonium
