#include "harmonium/likelihood/running_log_z.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/likelihood/exact.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

// Models of a training that never was: weights grow from nothing, and turn on the way.
std::vector<BoltzmannMachine> history_of(const BoltzmannMachine& last, const BoltzmannMachine& detour, int looks) {
  std::vector<BoltzmannMachine> result;
  for (int i = 0; i <= looks; ++i) {
    const double t = static_cast<double>(i) / looks;
    Moments theta = uniform_base(last).machine().parameters().clone().lerp_(last.parameters(), t);
    for (const auto& [name, value] : detour.parameters().entries())
      if (!name.ends_with(".precision")) at::Tensor(theta[name]).add_(value, t * (1 - t));
    result.push_back(last.with_parameters(theta));
  }
  return result;
}

struct Followed {
  std::vector<double> ratios;  // Z found / Z, a crowd each
  double least_effective = 0;
};

Followed follow(const std::vector<BoltzmannMachine>& history, int crowds, std::int64_t chains, std::int64_t steps) {
  const double truth = exact_log_z(history.back()).value;
  Followed result{.ratios = {}, .least_effective = static_cast<double>(chains)};
  for (int crowd = 0; crowd < crowds; ++crowd) {
    RunningLogZ running(uniform_base(history.front()), chains, Key(7).fold_in(static_cast<std::uint64_t>(crowd)));
    for (const BoltzmannMachine& machine : history) running.go_to(machine, steps);
    result.ratios.push_back(std::exp(running.log_z() - truth));
    result.least_effective = std::min(result.least_effective, running.effective_samples());
  }
  return result;
}

class RunningLogZOf : public testing::TestWithParam<support::MachineCase> {};

// The mean of 200 unbiased estimates lies within five of its standard errors of the truth but once in two million times
// (were it Gaussian; ratios of few, coarse steps are skewed, so crowds are made that are not).
TEST_P(RunningLogZOf, IsUnbiasedForZAlongAnyHistory) {
  const BoltzmannMachine last = GetParam().make(), detour = randomized(GetParam().make(), 77, 0.5);
  const Followed found = follow(history_of(last, detour, 10), 200, 20, 3);
  const at::Tensor ratios = at::tensor(found.ratios, at::kDouble);
  const double error = ratios.std().item<double>() / std::sqrt(200.0);
  EXPECT_NEAR(ratios.mean().item<double>(), 1, 5 * error);
  EXPECT_LT(error, 0.1) << "too noisy to show anything";
}

std::vector<support::MachineCase> followed_machines() {
  std::vector<support::MachineCase> all = support::and_general(support::inner_machines());
  for (const auto& cases : {support::shallow_machines(), support::deep_machines()})
    for (const support::MachineCase& one : cases)
      if (one.make().observed().size() == 1) all.push_back(one);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Machines, RunningLogZOf, testing::ValuesIn(followed_machines()),
                         [](const auto& each) { return each.param.name; });

BoltzmannMachine stiff() { return randomized(make_rbm("bernoulli:8", "bernoulli:6", at::kDouble), 3, 1.5); }

// As above; weights this unequal are resampled on the way, which this shows to leave Z unbiased.
TEST(RunningLogZ, StaysUnbiasedWhereChainsAreDrawnAgain) {
  const Followed found = follow(history_of(stiff(), stiff(), 10), 200, 50, 1);
  const at::Tensor ratios = at::tensor(found.ratios, at::kDouble);
  EXPECT_LT(found.least_effective, 25) << "nothing was drawn again";
  EXPECT_NEAR(ratios.mean().item<double>(), 1, 5 * ratios.std().item<double>() / std::sqrt(200.0));
}

TEST(RunningLogZ, GoesOnBitByBitWhereItWasSaved) {
  const std::vector<BoltzmannMachine> history = history_of(stiff(), stiff(), 12);
  const auto fresh = [&] { return RunningLogZ(uniform_base(history.front()), 30, Key(5)); };
  RunningLogZ whole = fresh(), resumed = fresh();
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (i == 5) {
      NamedTensors saved;
      for (const auto& [name, value] : whole.state()) saved.emplace_back(name, value.clone());
      resumed.restore(saved);
    }
    whole.go_to(history[i], 2);
    if (i >= 5) {
      resumed.go_to(history[i], 2);
      EXPECT_EQ(whole.log_z(), resumed.log_z()) << i;
      EXPECT_EQ(whole.effective_samples(), resumed.effective_samples()) << i;
    }
  }
}

}  // namespace
}  // namespace harmonium
