// Tempered transitions of machines whose whole distribution is known. Chi-square with a false-alarm rate of 1e-6 each,
// means at 5.5 standard errors (3.8e-8 each), fixed seeds.
#include "harmonium/samplers/tempered_transitions.h"

#include <gtest/gtest.h>

#include "harmonium/samplers/exact_sample.h"
#include "tests/samplers/tempering_machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::BruteForce;

const std::vector<double> coarse_ladder = {0, 0.4, 0.8, 1};

class DiscreteTemperedTransitions : public testing::TestWithParam<support::MachineCase> {
 protected:
  const support::ThreadCount one_thread{1};
  const BoltzmannMachine machine = GetParam().make();
  const BruteForce brute{machine};
  const TemperedLine line{machine, support::some_base(machine)};
};

TEST_P(DiscreteTemperedTransitions, LeaveTheExactDistributionAsItIs) {
  State state = exact_sample(machine, Key(300), 40'000);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const TemperedTransition moved = tempered_transition(line, coarse_ladder, state, Key(301).fold_in(step));
    EXPECT_GT(moved.acceptance, 0.2);
    EXPECT_LT(moved.acceptance, 0.98) << "nothing was refused";
  }
  support::expect_frequencies(support::count_configurations(state, brute.configurations), brute.probabilities);
}

TEST_P(DiscreteTemperedTransitions, ForgetABadStart) {
  State state =
      support::draw_configurations({brute.configurations[brute.configurations.size() / 3]}, {1.0}, 25'000, Key(302));
  for (std::uint64_t step = 0; step < 20; ++step)
    (void)tempered_transition(line, coarse_ladder, state, Key(303).fold_in(step));
  support::expect_frequencies(support::count_configurations(state, brute.configurations), brute.probabilities);
}

INSTANTIATE_TEST_SUITE_P(Machines, DiscreteTemperedTransitions,
                         testing::ValuesIn(support::discrete_and_inner_machines()), support::case_name);

TEST(TemperedTransitions, LeaveTheMomentsOfAGaussianMachineAsTheyAre) {
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:2", "bernoulli:2", at::kDouble), 304);
  const TemperedLine line(machine, support::some_base(machine));
  State state = exact_sample(machine, Key(305), 60'000);
  for (std::uint64_t step = 0; step < 3; ++step)
    (void)tempered_transition(line, coarse_ladder, state, Key(306).fold_in(step));
  const BruteForce brute(machine);
  const at::Tensor x = at::cat(state.layers, 1), nodes = at::cat(support::to_state(brute.configurations).layers, 1);
  const at::Tensor p = support::to_tensor({brute.probabilities})[0];
  support::expect_mean(x, p.matmul(nodes));
  support::expect_mean(x.square(), p.matmul(nodes.square()));
}

// With two rungs the proposal is a draw from the base, and the ratio that of independence Metropolis sampling.
TEST(TemperedTransitions, WeighAnExcursionByTheFormula) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 307, 1.5);
  const TemperedLine line(machine, support::some_base(machine));
  const State start = exact_sample(machine, Key(308), 200);
  State state = start;
  const TemperedTransition moved = tempered_transition(line, {0, 1}, state, Key(309));
  const BoltzmannMachine hot = line.at(0);
  const auto excess = [&](const State& x) { return machine.log_sum_out(x, {1}) - hot.log_sum_out(x, {1}); };
  const at::Tensor gained = excess(state) - excess(start);
  support::expect_close(gained.masked_select(moved.accepted), moved.log_ratio.masked_select(moved.accepted), 1e-12);
  EXPECT_TRUE(at::equal(state.layers[0].masked_select(moved.accepted.logical_not().unsqueeze(1)),
                        start.layers[0].masked_select(moved.accepted.logical_not().unsqueeze(1))));
  EXPECT_GT(moved.accepted.sum().item<std::int64_t>(), 5);
  EXPECT_LT(moved.accepted.sum().item<std::int64_t>(), 195);
}

TEST(TemperedTransitions, CrossBetweenFarModes) {
  constexpr std::int64_t chains = 200;
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = support::two_modes();
  const TemperedLine line(machine, uniform_parameters(machine));
  State state = support::all_off(machine, chains);
  at::Tensor time_on = at::zeros({chains}, at::kDouble);
  double acceptance = 0;
  for (std::uint64_t step = 0; step < 250; ++step) {
    acceptance += tempered_transition(line, linear_ladder(40), state, Key(310).fold_in(step)).acceptance / 250;
    if (step >= 50) time_on += support::is_on(state) / 200;
  }
  support::expect_mean(time_on.unsqueeze(1), at::full({1}, support::probability_on(machine), at::kDouble));
  EXPECT_LT(time_on.std().item<double>() / std::sqrt(chains), 0.02) << "too vague to mean anything";
  RecordProperty("acceptance", std::to_string(acceptance));
}

}  // namespace
}  // namespace harmonium
