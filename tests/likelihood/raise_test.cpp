// RAISE and reverse AIS against annealing by matrices: their weights are unbiased for quantities known exactly.
#include "harmonium/likelihood/raise.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"
#include "tests/likelihood/exact_path.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::between;
using support::ExactPath;
using support::randomized;

const std::vector<double> few_steps = {0, 0.3, 0.6, 1};

struct Annealed {
  explicit Annealed(const BoltzmannMachine& machine, std::uint64_t seed = 40, double scale = 1.3,
                    SumOut sum_out = SumOut::odd)
      : target(randomized(machine, seed, scale)),
        base(target.with_parameters(base_rate_parameters(target, Key(41))), "base rates"),
        path(base, {target}, few_steps, sum_out),
        exact(between(base.machine(), target, few_steps), path.kept(), path.summed()) {}
  BoltzmannMachine target;
  BaseModel base;
  AnnealingPath path;
  ExactPath exact;
};

std::vector<BoltzmannMachine> observed_machines() {
  return {make_rbm("bernoulli:3", "bernoulli:4", at::kDouble), make_rbm("softmax:2x3", "bernoulli:3", at::kDouble),
          make_rbm("bernoulli:3", "softmax:2x3", at::kDouble),
          make_classification_rbm("bernoulli:2", 3, "bernoulli:3", at::kDouble)};
}

// E[w] = p_ann(v) for every possible row v, 5.5 standard errors each: false-alarm rate 1e-6 for each machine.
TEST(Raise, WeightsAreUnbiasedForTheAnnealedModel) {
  const support::ThreadCount one_thread(1);
  constexpr std::int64_t chains = 4'000;
  for (const BoltzmannMachine& machine : observed_machines()) {
    const Annealed one(machine);
    const RaiseResult result = raise(one.path, one.exact.x, 1, {.seed = 42});
    ASSERT_EQ(result.log_p.size(0), one.exact.x.rows());
    // Single chains, so that log_p is the log of one weight.
    State repeated;
    repeated.layers.resize(machine.layers().size());
    for (const std::size_t layer : one.path.kept())
      repeated.layers[layer] = one.exact.x.layers[layer].repeat_interleave(chains, 0);
    const at::Tensor weights =
        raise(one.path, repeated, 1, {.chains_at_once = 50'000, .seed = 43}).log_p.exp().reshape({-1, chains}).t();
    support::expect_mean(weights, one.exact.arriving(), machine.unit(0).spec());
    EXPECT_GT((one.exact.arriving() - one.exact.f.back() / one.exact.f.back().sum()).abs().max().item<double>(), 1e-3)
        << "an annealed model that is the model tests nothing";
  }
}

TEST(Raise, AveragesChainsOfARowAndTurnsThemIntoABoundOnLogZ) {
  const Annealed one(make_rbm("bernoulli:3", "bernoulli:4", at::kDouble));
  const RaiseResult result = raise(one.path, one.exact.x, 2'000, {.chains_at_once = 16'000, .seed = 44});
  // 2000 weights of moderate spread: a few per cent.
  support::expect_close(result.log_p.exp(), one.exact.arriving(), 0.05);
  support::expect_close(result.log_z + result.log_p, log_unnormalized(one.target, one.exact.x), 1e-12);
  EXPECT_NEAR(result.log_likelihood.value, result.log_p.mean().item<double>(), 1e-12);
  EXPECT_NEAR(result.upper_log_z.value, result.log_z.mean().item<double>(), 1e-12);
  EXPECT_EQ(result.log_likelihood.kind, EstimateKind::lower_bound);
  EXPECT_EQ(result.upper_log_z.kind, EstimateKind::upper_bound);
  EXPECT_EQ(result.log_likelihood.chains, 2'000);
  EXPECT_EQ(result.log_likelihood.betas, 3);
  for (const Estimate& each : {result.log_likelihood, result.upper_log_z}) {
    EXPECT_LT(each.low, each.value);
    EXPECT_GT(each.high, each.value);
  }
}

TEST(Raise, OfOneRowHasTheIntervalOfItsChains) {
  const Annealed one(make_rbm("bernoulli:3", "bernoulli:4", at::kDouble));
  State row = one.exact.x;
  row.layers[0] = row.layers[0].narrow(0, 5, 1);
  const RaiseResult result = raise(one.path, row, 200, {.seed = 45});
  EXPECT_LT(result.log_likelihood.low, result.log_likelihood.value);
  EXPECT_GT(result.log_likelihood.high, result.log_likelihood.value);
  EXPECT_NEAR(result.upper_log_z.high - result.upper_log_z.value,
              result.log_likelihood.value - result.log_likelihood.low, 1e-9);
}

TEST(Raise, WithoutDistanceIsExactHoweverFewTheSteps) {
  BoltzmannMachine machine = randomized(make_rbm("bernoulli:5", "bernoulli:4", at::kDouble), 46);
  machine.parameters()["visible_hidden.weights"].zero_();
  const AnnealingPath path({machine, "itself"}, {machine}, {0, 1});
  const State rows = machine.observe({machine.independent_sample(Key(47), 7).layers[0]});
  const RaiseResult result = raise(path, rows, 3, {});
  support::expect_close(result.log_p, log_unnormalized(machine, rows) - exact_log_z(machine).value, 1e-12);
}

TEST(Raise, WorksOnDensities) {
  // No matrices for continuous rows: with many steps the bound must meet the density itself. The 60 rows' mean deviates
  // by a few hundredths; with two steps it lies far below.
  const support::ThreadCount one_thread(1);
  const BoltzmannMachine machine = randomized(make_rbm("gaussian:3", "bernoulli:4", at::kDouble), 48, 1.5);
  const State rows = machine.observe({exact_sample(machine, Key(49), 60).layers[0]});
  const double exact = (log_unnormalized(machine, rows).mean() - exact_log_z(machine).value).item<double>();
  const auto bound = [&](std::int64_t steps) {
    return raise(AnnealingPath(uniform_base(machine), {machine}, linear_schedule(steps)), rows, 10, {.seed = 51})
        .log_likelihood.value;
  };
  EXPECT_NEAR(bound(500), exact, 0.03);
  EXPECT_LT(bound(2), exact - 0.1);
}

TEST(Raise, RefusesMachinesWhoseDataAreNotAWholeBlock) {
  const BoltzmannMachine deep = randomized(make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:2"}, at::kDouble), 52);
  const AnnealingPath path(uniform_base(deep), {deep}, {0, 1});
  const State rows = deep.observe({at::zeros({2, 3}, at::kDouble)});
  support::expect_mentions(support::message_of([&] { static_cast<void>(raise(path, rows, 1, {})); }),
                           {"data that fill one of the two blocks"});
  const Annealed one(make_rbm("bernoulli:3", "bernoulli:4", at::kDouble));
  support::expect_mentions(support::message_of([&] { static_cast<void>(raise(one.path, one.exact.x, 0, {})); }),
                           {"chain"});
}

// E[w] = Z_0 / Z from exact draws, whichever block is summed out: 5.5 standard errors, false-alarm rate 4e-8 each.
TEST(ReverseAis, WeightsAreUnbiasedForTheInverseOfZ) {
  const support::ThreadCount one_thread(1);
  for (const SumOut sum_out : {SumOut::odd, SumOut::even})
    for (const BoltzmannMachine& machine :
         {make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), make_rbm("gaussian:3", "bernoulli:3", at::kDouble),
          make_classification_rbm("bernoulli:3", 3, "bernoulli:3", at::kDouble),
          make_chain({"bernoulli:3", "bernoulli:3", "bernoulli:3"}, at::kDouble)}) {
      const BoltzmannMachine target = randomized(machine, 53);
      const BaseModel base(target.with_parameters(base_rate_parameters(target, Key(54))), "base rates");
      const AnnealingPath path(base, {target}, few_steps, sum_out);
      const AisResult result =
          reverse_ais(path, exact_sample(target, Key(55), 6'000), {.chains_at_once = 6'000, .seed = 56});
      const double log_z = exact_log_z(target).value;
      support::expect_mean((log_z - result.log_weights).exp(), at::ones({}, at::kDouble), machine.unit(0).spec());
      EXPECT_EQ(result.log_z.kind, EstimateKind::upper_bound);
      EXPECT_EQ(result.log_z.chains, 6'000);
      EXPECT_LE(result.log_z.low, result.log_z.value);
      EXPECT_GE(result.log_z.high, result.log_z.value);
      EXPECT_NEAR(result.log_z.value, log_z, 0.2);
    }
}

TEST(ReverseAis, ChainByChainIsAHigherBoundThatRareChainsDoNotUpset) {
  AisResult reverse;
  // 99 chains in a mode that the base does not reach say 40; one that it reaches says 30.
  reverse.log_weights = at::cat({at::full({99}, 40.0, at::kDouble), at::full({1}, 30.0, at::kDouble)});
  reverse.log_z.kind = EstimateKind::upper_bound;
  const Estimate bound = average_bound(reverse, 1);
  EXPECT_NEAR(bound.value, 39.9, 1e-12);
  EXPECT_GT(bound.low, 39);
  EXPECT_EQ(bound.kind, EstimateKind::upper_bound);
}

}  // namespace
}  // namespace harmonium
