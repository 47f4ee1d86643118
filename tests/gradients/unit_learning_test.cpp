// A student learns from draws of a teacher of its own kind, for every unit type: KL(teacher ‖ student), computed
// exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

class UnitLearning : public testing::TestWithParam<std::string> {};

// The draws alone cost about (parameters / 2 · 10⁵) nats, which is below 0.0005.
TEST_P(UnitLearning, ComesNearItsTeacherByTheExactGradient) {
  const support::ThreadCount one_thread(1);
  constexpr std::int64_t draws = 100'000;
  const std::string visible = "bernoulli:5";
  const BoltzmannMachine teacher = support::randomized(make_rbm(visible, GetParam(), at::kDouble), 21, 1.0);
  State all = teacher.observe({support::to_tensor(support::points_of(visible).rows)});
  const auto log_p = [&](const BoltzmannMachine& machine) {
    return machine.log_sum_out(all, machine.hidden()) - exact_log_z(machine).value;
  };
  const at::Tensor truth = log_p(teacher), rows = exact_sample(teacher, Key(22), draws).layers[0];
  // States of points_of(): the first unit is the slowest.
  const at::Tensor place = rows.matmul(at::pow(2.0, 4 - at::arange(5, at::kDouble))).round().to(at::kLong);
  const at::Tensor weights = at::bincount(place, {}, 32).to(at::kDouble) / static_cast<double>(draws);
  BoltzmannMachine student = make_rbm(visible, GetParam(), at::kDouble);
  initialize(student, Key(23), 0.3);
  const auto distance = [&] { return (truth.exp() * (truth - log_p(student))).sum().item<double>(); };
  const double before = distance();
  double left = before;
  for (int step = 0; step < 4000 && left >= 0.01; ++step) {
    const Moments data = student.moments(all, student.fields(student.hidden(), all), weights);
    student.parameters().add_(data - exact_moments(student), 0.3);
    student.constrain_();
    if (step % 100 == 99) left = distance();
  }
  EXPECT_GT(before, 0.1) << "a teacher that says nothing teaches nothing";
  EXPECT_LT(distance(), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Units, UnitLearning,
                         testing::Values("cardinality:6<=2", "pooled:2x3", "or_pooled:2x2", "stepped:3x8", "poisson:3",
                                         "relu:3", "drelu:3", "spike_slab:3", "spike_slab:2x2"),
                         support::spec_name);

}  // namespace
}  // namespace harmonium
