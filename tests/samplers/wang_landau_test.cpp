// Wang–Landau against enumeration. The run reports its own standard error (ten groups of independent rows); fixed
// seeds.
#include "harmonium/samplers/wang_landau.h"

#include <gtest/gtest.h>

#include "harmonium/samplers/unit_flips.h"
#include "tests/samplers/tempering_machines.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// log f of all 4096 states of twelve binary visible units.
at::Tensor all_log_f(const BoltzmannMachine& machine) {
  return machine.log_sum_out({{machine.unit(0).states(at::arange(4096, at::kLong), at::kDouble), {}}}, {1});
}

// The allowed error of 0.05 nat is more than six of the standard errors found, and Student's t with nine degrees of
// freedom leaves ±6 with probability 2e-4: the false-alarm rate of a fresh seed.
TEST(WangLandau, FindsLogZAndTheDensityOfStatesOfATwelveByTwelveMachine) {
  const support::ThreadCount one_thread(1);
  for (const std::uint64_t seed : {501, 502, 503}) {
    const BoltzmannMachine machine =
        support::randomized(make_rbm("bernoulli:12", "bernoulli:12", at::kDouble), seed, 0.5);
    const at::Tensor log_f = all_log_f(machine);
    const double exact = at::logsumexp(log_f, 0).item<double>();
    const DensityOfStates found = wang_landau(machine, Key(504).fold_in(seed));
    EXPECT_TRUE(found.flat);
    EXPECT_NEAR(found.log_z, exact, 0.05);
    EXPECT_LT(found.standard_error, 0.05 / 6);
    RecordProperty("error_" + std::to_string(seed), std::to_string(found.log_z - exact));
    RecordProperty("standard_error_" + std::to_string(seed), std::to_string(found.standard_error));
    RecordProperty("steps_" + std::to_string(seed), std::to_string(found.steps));

    double total = 0;
    for (std::int64_t bin = 0; bin < found.level.size(0); ++bin) {
      const double level = found.level[bin].item<double>(), states = std::exp(found.log_states[bin].item<double>());
      const at::Tensor inside = log_f.masked_select((log_f - level).abs().le(0.25));
      ASSERT_GT(inside.size(0), 0) << "a bin that no state is in";
      total += states;
      // Ten per cent is several standard errors of a bin, and less than a state of the rarest ones.
      EXPECT_NEAR(states / static_cast<double>(inside.size(0)), 1, 0.1) << "at " << level;
      EXPECT_NEAR(found.log_mean[bin].item<double>(), inside.exp().mean().log().item<double>(), 0.02);
    }
    EXPECT_NEAR(total, 4096, 1e-6);
  }
}

// All other arrangements, more coarsely: 0.1 nat, at least six standard errors.
TEST(WangLandau, FindsLogZOfEveryMachineWithADiscreteBlock) {
  const support::ThreadCount one_thread(1);
  std::vector<support::MachineCase> machines = support::discrete_machines();
  machines.push_back(support::rbm_case("GaussianVisible", "gaussian:2", "bernoulli:2"));
  machines.push_back(support::rbm_case("GaussianHidden", "bernoulli:3", "gaussian:2"));
  for (const support::MachineCase& one : machines) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    const DensityOfStates found =
        wang_landau(machine, Key(505), {.rows = 200, .last_update = 0.01, .most_steps = 20'000, .last_steps = 2000});
    EXPECT_NEAR(found.log_z, support::BruteForce(machine).log_z, 0.1);
    EXPECT_LT(found.standard_error, 0.1 / 6);
  }
}

TEST(WangLandau, IsAFunctionOfItsKeyAndSaysWhenItWasStopped) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:12", "bernoulli:12"), 506, 0.5);
  const WangLandauOptions brief{.rows = 20, .check_every = 10, .most_steps = 50, .last_steps = 30};
  const DensityOfStates one = wang_landau(machine, Key(507), brief), again = wang_landau(machine, Key(507), brief),
                        other = wang_landau(machine, Key(508), brief);
  EXPECT_FALSE(one.flat);
  EXPECT_EQ(one.steps, 80);
  EXPECT_EQ(one.log_z, again.log_z);
  EXPECT_NE(one.log_z, other.log_z);
}

TEST(WangLandau, RefusesWhatItCannotDo) {
  using support::expect_mentions;
  using support::message_of;
  const auto message = [](const BoltzmannMachine& machine, const WangLandauOptions& options) {
    return message_of([&] { static_cast<void>(wang_landau(machine, Key(509), options)); });
  };
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2");
  expect_mentions(message(make_rbm("gaussian:2", "gaussian:2"), {}), {"continuous"});
  expect_mentions(message(support::triangle(), {}), {"two blocks", "3"});
  expect_mentions(message(machine, {.rows = 3}), {"rows", "3"});
  expect_mentions(message(machine, {.bin_width = 0}), {"width", "0"});
  expect_mentions(message(machine, {.flatness = 1}), {"flatness", "1"});
  expect_mentions(message(machine, {.last_steps = 0}), {"step"});
}

// The fields that follow single changes are those of the states they lead to, and changes are uniform.
TEST(UnitFlips, FollowTheChangesOfEveryKindOfLayer) {
  for (const support::MachineCase& one : support::discrete_machines()) {
    SCOPED_TRACE(one.name);
    const BoltzmannMachine machine = one.make();
    const UnitFlips flips(machine, machine.blocks()[0], machine.blocks()[1]);
    UnitFlips::Chains chains = flips.start(Key(510), 30);
    const at::Tensor first = chains.values.clone();
    for (std::uint64_t step = 0; step < 50; ++step) {
      const at::Tensor before = chains.values.clone();
      const UnitFlips::Proposal proposal = flips.propose(chains, uniform(Key(511).fold_in(step), {2, 30}, at::kDouble));
      const at::Tensor accepted = uniform(Key(512).fold_in(step), {30}, at::kDouble).lt(0.5);
      UnitFlips::accept(chains, proposal, accepted);
      EXPECT_TRUE(at::equal(chains.values.ne(before).sum(1), accepted.to(at::kLong)));
    }
    EXPECT_FALSE(at::equal(chains.values, first));
    const State state = flips.to_state(chains.values);
    for (const std::size_t layer : machine.blocks()[0])
      EXPECT_EQ(machine.unit(layer).complaint(state.layers[layer]), "");
    support::expect_close(chains.log_f, machine.log_sum_out(state, machine.blocks()[1]), 1e-11);
    support::expect_close(flips.refreshed(chains.values).log_f, chains.log_f, 1e-11);
  }
}

}  // namespace
}  // namespace harmonium
