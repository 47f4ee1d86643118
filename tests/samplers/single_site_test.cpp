// Layers whose units are joined to each other, redrawn unit by unit, against their whole distribution. Comparisons are
// chi-squares with a false-alarm rate of 1e-6 and a fixed seed.
#include "harmonium/samplers/single_site.h"

#include <gtest/gtest.h>

#include "harmonium/kernels/site_sweep.h"
#include "harmonium/samplers/gibbs.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::BruteForce;
using support::Configuration;
using support::Row;

constexpr std::int64_t site_rows = 100'000;

std::vector<support::MachineCase> discrete_inner_machines() {
  std::vector<support::MachineCase> result;
  for (const support::MachineCase& one : support::inner_machines())
    if (one.name != "SemiRestrictedPotts") result.push_back(one);
  result.push_back(support::general_machines().front());
  return result;
}

class SingleSite : public testing::TestWithParam<support::MachineCase> {
 protected:
  void expect_distribution(const State& state, const Row& probabilities) const {
    support::expect_frequencies(support::count_configurations(state, brute.configurations), probabilities);
  }
  // What redrawing one part (a unit, a group) of the visible layer makes of a distribution.
  [[nodiscard]] Row resample_part(const Row& distribution, std::size_t part) const {
    const auto columns = static_cast<std::size_t>(machine.unit(0).digit().columns);
    const auto rest = [&](Configuration x) {
      for (std::size_t c = 0; c < columns; ++c) x[0][part * columns + c] = -1;
      return x;
    };
    std::map<Configuration, double> mass, weight;
    for (std::size_t n = 0; n < brute.configurations.size(); ++n) {
      mass[rest(brute.configurations[n])] += distribution[n];
      weight[rest(brute.configurations[n])] += brute.probabilities[n];
    }
    Row result;
    for (std::size_t n = 0; n < brute.configurations.size(); ++n)
      result.push_back(mass[rest(brute.configurations[n])] * brute.probabilities[n] /
                       weight[rest(brute.configurations[n])]);
    return result;
  }
  [[nodiscard]] std::size_t parts() const {
    return static_cast<std::size_t>(machine.unit(0).width() / machine.unit(0).digit().columns);
  }

  const support::ThreadCount one_thread{1};
  const BoltzmannMachine machine = GetParam().make();
  const BruteForce brute{machine};
};

TEST_P(SingleSite, LeavesTheExactDistributionAsItIs) {
  State state = support::draw_configurations(brute.configurations, brute.probabilities, site_rows, Key(1));
  gibbs(machine, state, Key(2), 1);
  expect_distribution(state, brute.probabilities);
  gibbs(machine, state, Key(3), 3);
  expect_distribution(state, brute.probabilities);
}

TEST_P(SingleSite, MovesFromAFixedStateUnitByUnitInBothOrdersAlike) {
  const std::size_t start = brute.configurations.size() / 3;
  Row forwards(brute.configurations.size(), 0.0), backwards, expected;
  forwards[start] = 1;
  backwards = forwards;
  for (std::size_t part = 0; part < parts(); ++part) {
    forwards = resample_part(forwards, part);
    backwards = resample_part(backwards, parts() - 1 - part);
  }
  for (std::size_t n = 0; n < forwards.size(); ++n) expected.push_back((forwards[n] + backwards[n]) / 2);
  State state = support::draw_configurations({brute.configurations[start]}, {1.0}, site_rows, Key(4));
  sample_layers(machine, state, Key(5), {0});
  expect_distribution(state, expected);
}

TEST_P(SingleSite, ForgetsAStartThatKnowsNothing) {
  State state = machine.independent_sample(Key(6), site_rows);
  gibbs(machine, state, Key(7), 20);
  expect_distribution(state, brute.probabilities);
}

// p(x) T(x → y) = p(y) T(y → x): as many moves one way as the other (Bowker's test of symmetry).
TEST_P(SingleSite, IsReversible) {
  State before = support::draw_configurations(brute.configurations, brute.probabilities, site_rows, Key(8)),
        after = before;
  sample_layers(machine, after, Key(9), {0});
  const at::Tensor from = support::codes(before), to = support::codes(after);
  const std::int64_t size = std::max(from.max().item<std::int64_t>(), to.max().item<std::int64_t>()) + 1;
  const at::Tensor moves = at::bincount(from * size + to, {}, size * size).reshape({size, size}).to(at::kDouble);
  const at::Tensor there = moves.triu(1).reshape(-1), back = moves.t().triu(1).reshape(-1);
  const at::Tensor enough = (there + back).ge(20).nonzero().squeeze(1);
  const at::Tensor n = (there + back).index_select(0, enough), difference = (there - back).index_select(0, enough);
  const auto freedom = static_cast<double>(enough.size(0));
  ASSERT_GT(freedom, 10);
  const double bound = freedom * std::pow(1 - 2 / (9 * freedom) + 4.7534 * std::sqrt(2 / (9 * freedom)), 3);
  EXPECT_LT((difference.square() / n).sum().item<double>(), bound);
}

TEST_P(SingleSite, HoldsWhatIsKnownAndDrawsTheRestGivenIt) {
  // The first part of the visible layer is held at the value it has in some configuration.
  const auto columns = static_cast<std::size_t>(machine.unit(0).digit().columns);
  const Configuration& chosen = brute.configurations[brute.configurations.size() / 2 + 1];
  Row expected = brute.probabilities;
  double total = 0;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    for (std::size_t c = 0; c < columns; ++c)
      if (brute.configurations[n][0][c] != chosen[0][c]) expected[n] = 0;
    total += expected[n];
  }
  for (double& p : expected) p /= total;
  at::Tensor known = at::full({1, machine.unit(0).width()}, std::nan(""), at::kDouble);
  for (std::size_t c = 0; c < columns; ++c) known[0][static_cast<std::int64_t>(c)] = chosen[0][c];
  KnownUnits all(machine.layers().size());
  all[0] = known;
  State state = machine.independent_sample(Key(10), site_rows);
  conditional_gibbs(machine, state, Key(11), 30, all);
  expect_distribution(state, expected);
}

INSTANTIATE_TEST_SUITE_P(Machines, SingleSite, testing::ValuesIn(discrete_inner_machines()), support::case_name);

TEST(SiteSweep, DoesNotDependOnThreads) {
  const BoltzmannMachine machine = support::randomized(make_mrf("bernoulli:70"), 12);
  const auto swept = [&](int threads) {
    const support::ThreadCount some(threads);
    State state = machine.independent_sample(Key(13), 500);
    gibbs(machine, state, Key(14), 2);
    return state.layers[0];
  };
  EXPECT_TRUE(at::equal(swept(1), swept(2)));
}

TEST(SiteSweep, LeavesTheGivenStateAlone) {
  const BoltzmannMachine machine = support::randomized(make_mrf("bernoulli:9", at::kDouble), 15);
  State state = machine.independent_sample(Key(16), 50);
  const at::Tensor before = state.layers[0], copy = before.clone();
  gibbs(machine, state, Key(17));
  EXPECT_TRUE(at::equal(before, copy));
  EXPECT_FALSE(at::equal(state.layers[0], copy));
}

TEST(SiteSweep, RefusesCouplingsOfAnotherSize) {
  support::expect_mentions(
      support::message_of([] {
        static_cast<void>(
            site_sweep(Key(1), at::zeros({2, 3}), {.field = at::zeros({2, 3}), .couplings = at::zeros({4, 4})}));
      }),
      {"2 x 3"});
}

}  // namespace
}  // namespace harmonium
