// Annealing over machines of every unit type, against log Z by enumeration: 200 random tiny machines each.
#include <gtest/gtest.h>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/judging.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

struct UnitPair {
  std::string name, visible, hidden;
  friend void PrintTo(const UnitPair& one, std::ostream* out) { *out << one.name; }
};

class UnitAnnealing : public testing::TestWithParam<UnitPair> {};

// Means over 200 machines at 5.5 standard errors: false-alarm rate 4e-8 for each pair of types (RAISE: half of it).
TEST_P(UnitAnnealing, IsUnbiasedForZAndRaiseIsBelowTheLikelihood) {
  const support::ThreadCount one_thread(1);
  constexpr int machines = 200;
  constexpr std::int64_t chains = 30, rows = 4;
  std::vector<double> ratios, above;
  for (int n = 0; n < machines; ++n) {
    const BoltzmannMachine machine =
        support::randomized(make_rbm(GetParam().visible, GetParam().hidden, at::kDouble), 100 + n, 0.6);
    const double log_z = exact_log_z(machine).value;
    const AnnealingPath path{uniform_base(machine), {machine}, linear_schedule(5)};
    const AnnealingOptions options{.chains_at_once = chains, .seed = static_cast<std::uint64_t>(n)};
    ratios.push_back((ais(path, chains, options).log_weights - log_z).exp().mean().item<double>());
    const State drawn = exact_sample(machine, Key(7).fold_in(static_cast<std::uint64_t>(n)), rows);
    const State data = machine.observe({drawn.layers[0]});
    const at::Tensor log_p = machine.log_sum_out(data, machine.hidden()) - log_z;
    above.push_back((raise(path, data, 3, options).log_p - log_p).mean().item<double>());
  }
  support::expect_mean(at::tensor(ratios, at::kDouble), at::ones({}, at::kDouble), "Z estimated / Z");
  const at::Tensor excess = at::tensor(above, at::kDouble);
  EXPECT_LT(excess.mean().item<double>(), 5.5 * (excess.std() / std::sqrt(machines)).item<double>());
}

INSTANTIATE_TEST_SUITE_P(Units, UnitAnnealing,
                         testing::Values(UnitPair{"cardinality", "bernoulli:4", "cardinality:4<=2"},
                                         UnitPair{"visible_cardinality", "cardinality:4<=2", "bernoulli:3"},
                                         UnitPair{"pooled", "bernoulli:4", "pooled:2x2"},
                                         UnitPair{"or_pooled", "bernoulli:4", "or_pooled:2x2"},
                                         UnitPair{"stepped", "bernoulli:4", "stepped:2x4"},
                                         UnitPair{"gaussian_stepped", "gaussian:2", "stepped:2x3"},
                                         UnitPair{"poisson", "poisson:2", "bernoulli:3"},
                                         UnitPair{"hidden_poisson", "bernoulli:4", "poisson:2"},
                                         UnitPair{"relu", "bernoulli:4", "relu:2"},
                                         UnitPair{"visible_relu", "relu:2", "bernoulli:3"},
                                         UnitPair{"drelu", "bernoulli:4", "drelu:2"},
                                         UnitPair{"spike_slab", "bernoulli:4", "spike_slab:2"},
                                         UnitPair{"pooled_slabs", "bernoulli:4", "spike_slab:2x2"}),
                         [](const auto& one) { return one.param.name; });

class QuietWatcher final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

TEST(NoisyUnits, AreJudgedAsTheSteppedUnitsTheyStandFor) {
  const BoltzmannMachine noisy = support::randomized(make_rbm("bernoulli:4", "nrelu:2", at::kDouble), 5, 0.5);
  BoltzmannMachine stepped = make_rbm("bernoulli:4", "stepped:2", at::kDouble);
  stepped = stepped.with_parameters(noisy.parameters());
  QuietWatcher watcher;
  const Findings findings = find_log_z({.machine = noisy, .data_moments = {}}, nullptr, {}, watcher, nullptr);
  EXPECT_EQ(findings.log_z.kind, EstimateKind::exact);
  EXPECT_NEAR(findings.log_z.value, exact_log_z(stepped).value, 1e-12);
}

}  // namespace
}  // namespace harmonium
