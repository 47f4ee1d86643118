#include "harmonium/likelihood/exact.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

TEST(ExactLogZ, IsTheLogOfTheSumOverAllStates) {
  for (const support::MachineCase& one : support::and_general(support::and_inner(support::all_machines()))) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    EXPECT_NEAR(exact_log_z(machine).value, support::BruteForce(machine).log_z, 1e-11);
  }
}

TEST(ExactLogZ, HoldsForMachinesOfManyShapesAndStrengths) {
  std::uint64_t seed = 60;
  for (const std::int64_t visible : {1, 2, 5, 7})
    for (const std::int64_t hidden : {1, 3, 6})
      for (const double scale : {0.1, 1.0, 10.0}) {
        const BoltzmannMachine machine = randomized(
            make_rbm(format("bernoulli:{}", visible), format("bernoulli:{}", hidden), at::kDouble), seed++, scale);
        const double expected = support::BruteForce(machine).log_z;
        EXPECT_NEAR(exact_log_z(machine).value, expected, 1e-12 * (1 + std::abs(expected))) << visible << "x" << hidden;
      }
}

TEST(ExactLogZ, OfOneUnitOnEachSideIsTheSumOfFourTerms) {
  BoltzmannMachine machine = make_rbm("bernoulli:1", "bernoulli:1", at::kDouble);
  machine.parameters()["visible.bias"].fill_(0.3);
  machine.parameters()["hidden.bias"].fill_(-0.7);
  machine.parameters()["visible_hidden.weights"].fill_(1.1);
  EXPECT_NEAR(exact_log_z(machine).value, std::log(1 + std::exp(0.3) + std::exp(-0.7) + std::exp(0.3 - 0.7 + 1.1)),
              1e-14);
}

TEST(ExactLogZ, OfAMachineWithoutEdgesIsTheSumOfItsLayers) {
  BoltzmannMachine machine({{"a", make_unit("bernoulli:3")}, {"b", make_unit("bernoulli:2")}}, {}, at::kDouble);
  machine.parameters()["a.bias"].fill_(0.7);
  EXPECT_NEAR(exact_log_z(machine).value, 3 * std::log1p(std::exp(0.7)) + 2 * std::log(2.0), 1e-12);
}

TEST(ExactLogZ, SaysThatItIsExactAndHow) {
  const Estimate estimate = exact_log_z(make_rbm("bernoulli:6", "bernoulli:4"));
  EXPECT_EQ(estimate.kind, EstimateKind::exact);
  EXPECT_EQ(estimate.low, estimate.value);
  EXPECT_EQ(estimate.high, estimate.value);
  EXPECT_EQ(estimate.method, "exact (2^4 states of hidden)");
  EXPECT_EQ(estimate.chains, 0);
  EXPECT_FALSE(estimate.effective_samples.has_value());
  EXPECT_NEAR(estimate.value, 10 * std::log(2.0), 1e-13) << "without parameters all states weigh one";
  EXPECT_EQ(exact_log_z(make_rbm("bernoulli:3", "bernoulli:8")).method, "exact (2^3 states of visible)");
}

TEST(ExactLogZ, DoesNotDependOnTheBordersOfChunks) {
  // 2^13 states beside 2^16 units are several chunks; three of the units are joined, the others are fair coins.
  const BoltzmannMachine small = randomized(make_rbm("bernoulli:3", "bernoulli:13", at::kDouble), 61);
  BoltzmannMachine large = make_rbm("bernoulli:65536", "bernoulli:13", at::kDouble);
  large.parameters()["hidden.bias"].copy_(small.parameters()["hidden.bias"]);
  large.parameters()["visible.bias"].narrow(0, 7, 3).copy_(small.parameters()["visible.bias"]);
  large.parameters()["visible_hidden.weights"].narrow(0, 7, 3).copy_(small.parameters()["visible_hidden.weights"]);
  std::int64_t calls = 0, last = -1;  // it begins by saying 0
  const Estimate estimate = exact_log_z(large, 25, [&](std::int64_t done, std::int64_t total) {
    ++calls;
    EXPECT_GT(done, last);
    EXPECT_EQ(total, 1 << 13);
    last = done;
  });
  EXPECT_GT(calls, 1);
  EXPECT_EQ(last, 1 << 13);
  EXPECT_NEAR(estimate.value, support::BruteForce(small).log_z + 65533 * std::log(2.0), 1e-8);
}

TEST(ExactLogZ, DoesNotOverflow) {
  BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2", at::kDouble);
  machine.parameters()["visible.bias"].fill_(5000);
  machine.parameters()["visible_hidden.weights"].fill_(-20000);
  EXPECT_NEAR(exact_log_z(machine).value, 15000, 1e-8);
}

TEST(ExactLogZ, OfAFloatMachineIsComputedInDouble) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:6", "bernoulli:4", at::kDouble), 62).to(at::kFloat);
  EXPECT_NEAR(exact_log_z(machine).value, support::BruteForce(machine).log_z, 1e-12);
}

TEST(ExactLogZ, RefusesMoreStatesThanTheLimit) {
  support::expect_mentions(
      support::message_of([] { static_cast<void>(exact_log_z(make_rbm("bernoulli:784", "bernoulli:30"))); }),
      {"2^30 states of hidden", "2^25", "ais"});
  EXPECT_FALSE(can_enumerate(make_rbm("bernoulli:784", "bernoulli:30")));
  EXPECT_FALSE(can_enumerate(make_rbm("gaussian:2", "gaussian:2")));
  EXPECT_TRUE(can_enumerate(make_rbm("bernoulli:784", "bernoulli:25")));
  EXPECT_FALSE(can_enumerate(make_rbm("bernoulli:784", "bernoulli:25"), 24));
  EXPECT_TRUE(can_enumerate(make_rbm("gaussian:784", "bernoulli:25")));
}

TEST(ExactLogZ, StopsWhenItsProgressThrows) {
  EXPECT_THROW(static_cast<void>(exact_log_z(make_rbm("bernoulli:2", "bernoulli:2"), 25,
                                             [](std::int64_t, std::int64_t) { throw RunFailure("enough"); })),
               RunFailure);
}

}  // namespace
}  // namespace harmonium
