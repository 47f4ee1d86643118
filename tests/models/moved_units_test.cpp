#include "harmonium/models/moved_units.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// p(x) = p'((x − m) / s) / Π s for every x.
TEST(MovedUnits, LeaveTheDistributionAndChangeItsUnits) {
  const at::Tensor mean = at::tensor({3.0, -40.0, 0.2}, at::kDouble), s = at::tensor({0.1, 7.0, 2.0}, at::kDouble);
  for (const char* hidden : {"bernoulli:4", "softmax:2x3", "stepped:2x3"}) {
    const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:3", hidden, at::kDouble), 8);
    const BoltzmannMachine moved = in_units_of(machine, mean, s);
    const at::Tensor x = normal(Key(9), {20, 3}, at::kDouble);
    const auto log_p = [](const BoltzmannMachine& one, const at::Tensor& rows) {
      return one.log_sum_out(one.observe({rows}), one.hidden()) - exact_log_z(one).value;
    };
    support::expect_close(log_p(moved, mean + s * x), log_p(machine, x) - s.log().sum(), 1e-10, hidden);
  }
  support::expect_mentions(
      support::message_of([&] { (void)in_units_of(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), mean, s); }),
      {"Gaussian", "bernoulli:3"});
}

TEST(MovedUnits, AreNotHeldByWhatHeldThemBefore) {
  const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:2:fixed", "bernoulli:2", at::kDouble), 8);
  const at::Tensor s = at::tensor({0.5, 4.0}, at::kDouble);
  const BoltzmannMachine moved = in_units_of(machine, at::zeros({2}, at::kDouble), s);
  EXPECT_EQ(moved.unit(0).spec(), "gaussian:2");
  support::expect_close(moved.parameters()["visible.precision"], s.pow(-2), 1e-12);
}

TEST(MovedUnits, KnowBothObservedLayersOfALabelledMachine) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("gaussian:2", 3, "bernoulli:3", at::kDouble), 10);
  const at::Tensor mean = at::tensor({1.0, -2.0}, at::kDouble), s = at::tensor({0.5, 3.0}, at::kDouble);
  const BoltzmannMachine moved = in_units_of(machine, mean, s);
  const at::Tensor x = normal(Key(11), {6, 2}, at::kDouble);
  const at::Tensor label = at::one_hot(at::arange(6, at::kLong).remainder(3), 3).to(at::kDouble);
  const auto log_p = [&](const BoltzmannMachine& one, const at::Tensor& rows) {
    return one.log_sum_out(one.observe({rows, label}), one.hidden()) - exact_log_z(one).value;
  };
  support::expect_close(log_p(moved, mean + s * x), log_p(machine, x) - s.log().sum(), 1e-10);
}

}  // namespace
}  // namespace harmonium
