// Herding towards the exact moments of small machines. Nothing here is random: no false alarms.
#include "harmonium/samplers/herding.h"

#include <gtest/gtest.h>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

Moments moments_of(const BoltzmannMachine& machine) {
  const support::BruteForce brute(machine);
  return support::expected_statistics(machine, brute.configurations, brute.probabilities);
}

class HerdingOfMachines : public testing::TestWithParam<support::MachineCase> {};

// Independent draws would halve the error at four times as many states; herding divides it by four.
TEST_P(HerdingOfMachines, ComesNearTheMomentsAsOneOverTheNumberOfStates) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = GetParam().make();
  Herding herding(machine.with_parameters(machine.parameters().zeros_like()), moments_of(machine));
  std::vector<double> errors(8001);
  for (std::size_t t = 1; t < errors.size(); ++t) {
    static_cast<void>(herding.step());
    errors[t] = herding.moment_error();
  }
  double log_ratio = 0, highest = 0;
  int count = 0;
  for (std::size_t t = 300; t <= 2000; t += 17, ++count) log_ratio += std::log(errors[4 * t] / errors[t]);
  for (std::size_t t = 100; t < errors.size(); ++t) highest = std::max(highest, errors[t] * static_cast<double>(t));
  RecordProperty("ratio", std::to_string(std::exp(log_ratio / count)));
  RecordProperty("highest_error_times_T", std::to_string(highest));
  RecordProperty("shortfalls", std::to_string(herding.shortfalls()));
  EXPECT_LT(std::exp(log_ratio / count), 0.35);
  EXPECT_LT(highest, 6);
  EXPECT_LT(errors.back(), 0.005);
}

INSTANTIATE_TEST_SUITE_P(Machines, HerdingOfMachines, testing::ValuesIn(support::discrete_machines()),
                         support::case_name);

TEST(Herding, StopsAtAStateThatNoBlockCanImprove) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:6", "softmax:2x3", at::kDouble), 401, 1.5);
  Herding herding(machine, moments_of(machine), {.rate = 1e-9});
  const State state = herding.step();
  const support::PlainMachine plain(machine);
  support::Configuration x = {support::numbers(state.layers[0]), support::numbers(state.layers[1])};
  const double reached = plain.negative_energy(x);
  for (const std::size_t layer : {0U, 1U})
    for (const support::Row& other : plain.points(layer).rows) {
      support::Configuration changed = x;
      changed[layer] = other;
      EXPECT_LE(plain.negative_energy(changed), reached + 1e-12);
    }
}

TEST(Herding, KeepsCountOfWhatItHasSeenAndLeavesTheMachineAlone) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 402);
  const BoltzmannMachine before = machine.to(at::kDouble);
  const Moments target = moments_of(machine);
  Herding herding(machine, target, {.rate = 0.5});
  Moments sum = target.zeros_like();
  for (int i = 0; i < 9; ++i) sum.add_(machine.moments(herding.step()));
  EXPECT_EQ(herding.steps(), 9);
  support::expect_close(herding.mean_statistics(), (1.0 / 9) * sum, 1e-12);
  // The parameters have moved by what the states are short of the target.
  support::expect_close(herding.parameters(), before.parameters() + 0.5 * (9.0 * target - sum), 1e-12);
  EXPECT_TRUE(support::identical(machine.parameters(), before.parameters()));
}

TEST(Herding, RefusesWhatItCannotDo) {
  using support::expect_mentions;
  using support::message_of;
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2", at::kDouble),
                         real = make_rbm("gaussian:2", "bernoulli:2", at::kDouble);
  const Moments target = machine.parameters().zeros_like();
  expect_mentions(message_of([&] { Herding(machine, target, {.rate = 0}); }), {"rate", "0"});
  expect_mentions(message_of([&] { Herding(real, real.parameters()); }), {"visible", "gaussian:2"});
  expect_mentions(message_of([&] { Herding(machine, real.parameters()); }), {"different"});
  expect_mentions(message_of([&] { static_cast<void>(Herding(machine, target).moment_error()); }), {"no step"});
}

}  // namespace
}  // namespace harmonium
