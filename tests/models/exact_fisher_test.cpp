#include "harmonium/models/exact_fisher.h"

#include <gtest/gtest.h>

#include "tests/support/brute_force.h"
#include "tests/support/fisher.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

class ExactFisherOf : public testing::TestWithParam<support::MachineCase> {};

TEST_P(ExactFisherOf, IsTheCovarianceOfTheStatisticsOverAllStates) {
  const BoltzmannMachine machine = GetParam().make();
  const ExactFisher fisher = exact_fisher(machine);
  const support::PlainFisher expected = support::plain_fisher(machine);
  expect_close(fisher.mean.flatten(), expected.mean, 1e-10);
  expect_close(fisher.covariance, expected.covariance, 1e-10);
}

// ds = G dη: the moments' change along every parameter, by differences.
TEST_P(ExactFisherOf, IsTheDerivativeOfTheMoments) {
  const BoltzmannMachine machine = GetParam().make();
  const at::Tensor covariance = exact_fisher(machine).covariance, flat = machine.parameters().flatten();
  constexpr double step = 1e-5;
  for (std::int64_t k = 0; k < flat.size(0); k += 3) {
    const auto mean_at = [&](double change) {
      at::Tensor moved = flat.clone();
      moved[k] += change;
      return exact_fisher(machine.with_parameters(machine.parameters().unflatten(moved))).mean.flatten();
    };
    expect_close((mean_at(step) - mean_at(-step)) / (2 * step), covariance[k], 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ExactFisherOf, testing::ValuesIn(support::all_machines()), support::case_name);

// A triangle of layers has an edge between two enumerated ones.
TEST(ExactFisher, HoldsWhereEnumeratedLayersAreJoined) {
  const auto unit = make_unit("bernoulli:2");
  const BoltzmannMachine machine =
      support::randomized(BoltzmannMachine({{"a", unit, true}, {"b", make_unit("softmax:1x3"), true}, {"c", unit}},
                                           {{"a", "b"}, {"b", "c"}, {"a", "c"}}, at::kDouble),
                          61);
  const support::PlainFisher expected = support::plain_fisher(machine);
  expect_close(exact_fisher(machine).covariance, expected.covariance, 1e-10);
}

// Four binary units and two softmax groups are six digits in four groups.
TEST(ExactFisher, HoldsForAsManyDigitsAsMakeSeveralPasses) {
  const BoltzmannMachine machine = support::randomized(
      BoltzmannMachine(
          {{"a", make_unit("gaussian:1"), true}, {"b", make_unit("bernoulli:4")}, {"c", make_unit("softmax:2x2")}},
          {{"a", "b"}, {"c", "a"}}, at::kDouble),
      62, 2);
  const support::PlainFisher expected = support::plain_fisher(machine);
  expect_close(exact_fisher(machine).mean.flatten(), expected.mean, 1e-10);
  expect_close(exact_fisher(machine).covariance, expected.covariance, 1e-9);
}

TEST(ExactFisher, NamesTheSizesWhenASideIsTooLarge) {
  const BoltzmannMachine machine = make_rbm("bernoulli:30", "bernoulli:21");
  support::expect_mentions(support::message_of([&] { (void)plan_exact_fisher(machine); }), {"2^21", "2^20"});
}

}  // namespace
}  // namespace harmonium
