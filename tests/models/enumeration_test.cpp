#include "harmonium/models/enumeration.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;
using support::message_of;

TEST(PlanEnumeration, TakesTheSmallerSide) {
  const auto plan_of = [](const BoltzmannMachine& machine) { return plan_enumeration(machine, 25); };
  EXPECT_EQ(plan_of(make_rbm("bernoulli:100", "bernoulli:5")).enumerated, LayerSet{1});
  EXPECT_EQ(plan_of(make_rbm("bernoulli:5", "bernoulli:100")).enumerated, LayerSet{0});
  EXPECT_EQ(plan_of(make_rbm("softmax:2x3", "bernoulli:4")).enumerated, LayerSet{0}) << "9 states against 16";
  EXPECT_EQ(plan_of(make_rbm("gaussian:1", "bernoulli:20")).enumerated, LayerSet{1});
  EXPECT_EQ(plan_of(make_rbm("bernoulli:20", "gaussian:1")).enumerated, LayerSet{0});
  EXPECT_EQ(plan_of(make_classification_rbm("bernoulli:2", 3, "bernoulli:5")).enumerated, (LayerSet{0, 1}));
  EXPECT_EQ(plan_of(make_mrf("bernoulli:9")).enumerated, LayerSet{0});
  EXPECT_EQ(plan_of(make_semi_restricted("bernoulli:9", "bernoulli:2")).enumerated, LayerSet{0})
      << "joined units cannot be summed out, however many";
  EXPECT_EQ(plan_of(make_chain({"bernoulli:9", "bernoulli:9", "bernoulli:9"})).enumerated, LayerSet{1});
}

TEST(PlanEnumeration, DescribesItsStates) {
  const BoltzmannMachine powers = make_rbm("bernoulli:100", "bernoulli:20");
  EXPECT_EQ(plan_enumeration(powers, 25).describe(powers), "2^20 states of hidden");
  const BoltzmannMachine others = make_classification_rbm("bernoulli:2", 3, "bernoulli:100");
  EXPECT_EQ(plan_enumeration(others, 25).describe(others), "12 states of visible+label");
}

TEST(PlanEnumeration, RefusesMoreStatesThanTheLimitAndNamesTheWayOut) {
  const BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:26");
  expect_mentions(message_of([&] { static_cast<void>(plan_enumeration(machine, 25)); }),
                  {"2^26 states of hidden", "2^25", "ais"});
  EXPECT_EQ(plan_enumeration(machine, 26).states, std::exp2(26.0));
}

TEST(PlanEnumeration, RefusesMachinesContinuousOnBothSides) {
  expect_mentions(message_of([] { static_cast<void>(plan_enumeration(make_rbm("gaussian:1", "gaussian:1"), 25)); }),
                  {"continuous"});
}

TEST(ForEachState, VisitsEveryStateOnceWithItsSum) {
  for (const support::MachineCase& one : support::and_general(support::and_inner(support::all_machines()))) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    const support::PlainMachine plain(machine);
    const EnumerationPlan plan = plan_enumeration(machine, 25);
    std::set<support::Configuration> seen;
    for_each_state(machine, plan, [&](const State& state, const at::Tensor& log_weight) {
      for (std::int64_t row = 0; row < log_weight.size(0); ++row) {
        support::Configuration x(machine.layers().size());
        for (const std::size_t layer : plan.enumerated) x[layer] = support::numbers(state.layers[layer][row]);
        EXPECT_TRUE(seen.insert(x).second) << "visited twice";
        EXPECT_NEAR(log_weight[row].item<double>(), plain.log_sum(x, plan.summed), 1e-11);
      }
    });
    EXPECT_EQ(static_cast<double>(seen.size()), plan.states);
  }
}

TEST(ForEachState, CrossesTheBordersOfItsChunksWithoutLossOrRepetition) {
  // 2^12 states beside 2^10 units: two chunks of 2^11 rows.
  const BoltzmannMachine machine = make_rbm("bernoulli:1024", "bernoulli:12", at::kDouble);
  at::Tensor visits = at::zeros({1 << 12}, at::kLong);
  std::vector<std::int64_t> progress;
  int chunks = 0;
  for_each_state(
      machine, plan_enumeration(machine, 12),
      [&](const State& state, const at::Tensor&) {
        const at::Tensor number = (state.layers[1].to(at::kLong) * at::pow(2, at::arange(12, at::kLong))).sum(1);
        visits.index_add_(0, number, at::ones_like(number));
        ++chunks;
      },
      [&](std::int64_t done, std::int64_t total) {
        progress.push_back(done);
        EXPECT_EQ(total, 1 << 12);
      });
  EXPECT_GE(chunks, 2);
  EXPECT_TRUE(at::equal(visits, at::ones_like(visits)));
  EXPECT_EQ(progress.size(), static_cast<std::size_t>(chunks));
  EXPECT_EQ(progress.back(), 1 << 12);
}

TEST(ForEachState, NeedsDoublePrecision) {
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2", at::kFloat);
  expect_mentions(message_of([&] {
                    for_each_state(machine, plan_enumeration(machine, 25), [](const State&, const at::Tensor&) {});
                  }),
                  {"float64"});
}

}  // namespace
}  // namespace harmonium
