// Jumps between classes, counted by hand, and states given to the class of the nearest row.
#include "harmonium/samplers/mode_jumps.h"

#include <gtest/gtest.h>

#include "harmonium/samplers/diagnostics.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

at::Tensor table(const std::vector<std::vector<std::int64_t>>& lines) {
  std::vector<at::Tensor> tensors;
  for (const auto& row : lines) tensors.push_back(at::tensor(row, at::kLong));
  return at::stack(tensors);
}

TEST(ModeJumps, AreCountedWithinChainsAndNotBetweenThem) {
  const ModeJumps jumps = count_jumps(table({{0, 0, 2, 2, 0}, {3, 3, 3, 3, 3}}), 5);
  EXPECT_EQ(jumps.chains, 2);
  EXPECT_EQ(jumps.steps, 4);
  EXPECT_EQ(jumps.jumps, 2);
  EXPECT_DOUBLE_EQ(jumps.per_hundred(), 25);  // 2 jumps in 2 × 4 steps
  EXPECT_EQ(jumps.visited(), 3);
  EXPECT_DOUBLE_EQ(jumps.visited_per_chain, (2.0 / 5 + 1.0 / 5) / 2);
  EXPECT_TRUE(at::equal(jumps.histogram, at::tensor({3, 0, 2, 5, 0}, at::kLong)));
  EXPECT_DOUBLE_EQ(jumps.per_hundred_if_independent(), 100 * (1 - 0.09 - 0.04 - 0.25));
}

TEST(ModeJumps, OfOneStateAreNone) {
  EXPECT_EQ(count_jumps(table({{1}, {0}}), 2).per_hundred(), 0);
  EXPECT_EQ(count_jumps(table({{1}, {0}}), 2).visited(), 2);
}

TEST(ModeJumps, RefuseClassesThatAreNot) {
  support::expect_mentions(support::message_of([] { static_cast<void>(count_jumps(table({{0, 2}}), 2)); }), {"0 … 1"});
  EXPECT_NE(support::message_of([] { static_cast<void>(count_jumps(at::zeros({2, 2}), 2)); }), "");
}

TEST(NearestLabelled, GivesEveryStateTheClassAndDistanceOfTheNearestRow) {
  const at::Tensor known = at::tensor({0., 0., 1., 1., 1., 0., 1., 1., 1., 1., 1., 1.}).view({3, 4});
  const NearestLabelled nearest(known, at::tensor({4, 0, 1}, at::kLong));
  EXPECT_EQ(nearest.classes(), 5);
  const auto [label, distance] = nearest.assign(at::tensor({0., 0., 0., 1., 1., 1., 1., 1.}).view({2, 4}));
  EXPECT_TRUE(at::equal(label, at::tensor({4, 1}, at::kLong)));
  support::expect_close(distance, at::tensor({1., 0.}), 1e-6);
}

// Two tight clouds and one row of class 1 within the cloud of class 0: of 5 rows that one is wrong.
TEST(NearestLabelled, KnowsHowOftenItIsWrong) {
  const at::Tensor known = at::tensor({0., 1., 2.2, 10., 11.}).view({5, 1});
  const NearestLabelled nearest(known, at::tensor({0, 0, 1, 1, 1}, at::kLong));
  const auto found = nearest.leave_one_out();
  EXPECT_NEAR(found.accuracy, 0.8, 1e-12);
  EXPECT_NEAR(found.mean_distance, (1 + 1 + 1.2 + 1 + 1) / 5, 1e-6);
}

// A state amid one cloud is near to it, but the other cloud is far from all states.
TEST(NearestLabelled, SeesWhatStatesLeaveOut) {
  const at::Tensor known = at::tensor({0., 1., 10., 12.}).view({4, 1});
  const NearestLabelled nearest(known, at::tensor({0, 0, 1, 1}, at::kLong));
  EXPECT_NEAR(nearest.distance_to_nearest_of(at::tensor({0., 2.}).view({2, 1})), (0 + 1 + 8 + 10) / 4.0, 1e-5);
  EXPECT_NEAR(nearest.distance_to_nearest_of(at::tensor({0., 11.}).view({2, 1})), (0 + 1 + 1 + 1) / 4.0, 1e-5);
  EXPECT_NEAR(nearest.distance_to_first(2), (9 + 11) / 2.0, 1e-5);
  EXPECT_NEAR(nearest.distance_to_first(3), 2, 1e-5);
  EXPECT_NE(support::message_of([&] { static_cast<void>(nearest.distance_to_first(4)); }), "");
}

TEST(NearestLabelled, RefusesRowsWithoutLabels) {
  EXPECT_NE(support::message_of([] { NearestLabelled(at::zeros({3, 2}), at::zeros({2}, at::kLong)); }), "");
  EXPECT_NE(support::message_of([] { NearestLabelled(at::zeros({2, 2}), at::tensor({0, -1}, at::kLong)); }), "");
}

// Independent draws: every step is a new state, so that the time is one step and the jumps are those of their
// histogram. 20 × 500 values: the time's relative standard error is √(14/10 000) = 0.04, and five of them are allowed
// (false alarms below 1e-6); jumps are a binomial share of 9980 pairs, whose neighbours share a state: six standard
// errors of √(p(1−p)/9980), false alarms below 1e-6 with a margin for that.
TEST(ModeJumps, OfExactDrawsAreThoseOfIndependentStates) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:6", "bernoulli:5", at::kDouble), 11, 1.5);
  const State draws = exact_sample(machine, Key(12), 20 * 500);
  const at::Tensor log_f = machine.log_sum_out(draws, {1}).view({20, 500});
  EXPECT_NEAR(autocorrelation_time(log_f), 1, 0.2);
  const at::Tensor mode = (draws.layers[0].select(1, 0) * 2 + draws.layers[0].select(1, 1)).to(at::kLong);
  const ModeJumps jumps = count_jumps(mode.view({20, 500}), 4);
  const double expected = jumps.per_hundred_if_independent() / 100;
  EXPECT_NEAR(jumps.per_hundred() / 100, expected, 6 * std::sqrt(expected * (1 - expected) / 9980));
}

}  // namespace
}  // namespace harmonium
