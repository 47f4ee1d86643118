// What an optimizer's geometry promises: the meaning of a unit's two values does not matter.
//
// Data with some columns turned round, v → 1 − v, and a model whose parameters are turned with them (a → −a, W → −W in
// the row, b → b + W) describe the same pictures. Training both must give the same distribution.
#include <gtest/gtest.h>

#include "harmonium/core/format.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

using support::expect_close;

constexpr std::int64_t columns = 8;

// Columns of very different means, which is where a plain gradient goes wrong.
Dataset uneven_bits(std::int64_t rows, std::uint64_t seed) {
  const at::Tensor level = at::linspace(0.05, 0.3, columns, at::kFloat);
  const at::Tensor shared = uniform(Key(seed).fold_in(0), {rows, 1});
  const at::Tensor own = uniform(Key(seed).fold_in(1), {rows, columns});
  return {.name = "uneven", .values = (0.5 * shared + 0.5 * own).lt(0.2 + 0.8 * level).to(at::kByte)};
}

// All columns turned round.
Dataset turned(const Dataset& data) { return {.name = "turned", .values = 1 - data.values}; }

BoltzmannMachine turned(const BoltzmannMachine& machine) {
  Moments p = machine.parameters().clone();
  p["hidden.bias"].add_(p["visible_hidden.weights"].sum(0));
  p["visible_hidden.weights"].neg_();
  p["visible.bias"].neg_();
  return machine.with_parameters(p);
}

BoltzmannMachine start(const Dataset& data, std::int64_t hidden, std::uint64_t seed, at::ScalarType type) {
  BoltzmannMachine machine = make_rbm(format("bernoulli:{}", data.columns()), format("bernoulli:{}", hidden), type);
  initialize(machine, Key(seed), 0.1, {{data.column_means().to(type)}});
  return machine;
}

struct FlipRun {
  std::string gradient = "exact", optimizer;
  MetricOptions metric = {};
  StepOptions step = {};
  std::int64_t batch = 0, updates = 0;
  std::uint64_t seed = 1;
};

BoltzmannMachine trained(const BoltzmannMachine& machine, const Dataset& data, const FlipRun& run) {
  auto metric = make_metric(run.optimizer, machine.topology(), machine.parameters(), run.metric);
  Training training =
      make_training(machine.to(machine.scalar_type()), BatchStream(data, {.batch = run.batch}, Key(run.seed)),
                    make_negative_phase(run.gradient, {.sweeps = 1, .particles = run.batch}), std::move(metric),
                    run.step, {.updates = run.updates, .averaging = 1, .seed = run.seed});
  while (!training.finished()) training.step();
  return machine_of(training);
}

double likelihood(const BoltzmannMachine& machine, const Dataset& data) {
  const at::Tensor rows = data.to_float().to(machine.scalar_type());
  return log_likelihood(log_unnormalized(machine, machine.observe({rows})).mean().item<double>(), exact_log_z(machine))
      .value;
}

// log p of every visible state, normalized.
at::Tensor distribution(const BoltzmannMachine& machine) {
  const at::Tensor all = machine.unit(0).states(at::arange(256, at::kLong), at::kDouble);
  const BoltzmannMachine precise = machine.to(at::kDouble);
  return at::log_softmax(log_unnormalized(precise, precise.observe({all})), 0);
}

// Of the turned machine, in the order of the original's states: all bits turned is the list from its end.
at::Tensor turned_distribution(const BoltzmannMachine& machine) { return distribution(machine).flip(0); }

double deviation(const FlipRun& run) {
  const Dataset data = uneven_bits(200, 7);
  const BoltzmannMachine machine = start(data, 4, 1, at::kDouble);
  EXPECT_LT((distribution(machine) - turned_distribution(turned(machine))).abs().max().item<double>(), 1e-10)
      << "the same distribution to begin with, or the comparison means nothing";
  const BoltzmannMachine after = trained(machine, data, run), mirrored = trained(turned(machine), turned(data), run);
  EXPECT_GT(likelihood(after, data), likelihood(machine, data) + 0.05) << "it must have learnt something";
  return (distribution(after) - turned_distribution(mirrored)).abs().max().item<double>();
}

// Exact gradients and whole batches: statistics of the turned model are affine in those of the original, so metrics
// that are fitted to all (exact, undamped) or to a set closed under that map (FANG, centering) give the same steps.
FlipRun whole_batches(const std::string& optimizer, double rate) {
  return {
      .gradient = "exact",
      .optimizer = optimizer,
      .metric = {.damping = optimizer == "fang" ? 0.01 : 0, .time_scale = 1, .statistics_every = 1, .refit_every = 1},
      .step = {.rate_bias = rate, .rate_weights = rate, .schedule = Schedule::constant},
      .batch = 200,
      .updates = 400};
}

TEST(TurningUnitsRound, LeavesTheTrainedDistributionUnchangedForTheExactGeometry) {
  EXPECT_LT(deviation(whole_batches("exact", 0.05)), 1e-8);
}

TEST(TurningUnitsRound, LeavesTheTrainedDistributionUnchangedForFangAndCentering) {
  EXPECT_LT(deviation(whole_batches("fang", 0.05)), 1e-8);
  EXPECT_LT(deviation(whole_batches("centering", 0.3)), 1e-8);
  EXPECT_LT(deviation(whole_batches("enhanced", 0.3)), 1e-8);
}

TEST(TurningUnitsRound, ChangesWhatAPlainGradientLearns) { EXPECT_GT(deviation(whole_batches("sgd", 0.3)), 0.05); }

// With damping, running averages, persistent chains and batches, as in practice, over independent pairs of runs: the
// mean difference of exact log-likelihoods, in standard errors of the pairs.
struct Difference {
  double mean = 0, standard_error = 0;
};

Difference likelihood_difference(const std::string& optimizer, double rate_bias, double rate_weights) {
  constexpr std::int64_t pairs = 12;
  const Dataset data = uneven_bits(200, 7);
  at::Tensor differences = at::empty({pairs}, at::kDouble);
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    FlipRun run{.gradient = "pcd",
                .optimizer = optimizer,
                .step = {.rate_bias = rate_bias, .rate_weights = rate_weights, .schedule = Schedule::linear},
                .batch = 50,
                .updates = 600,
                .seed = 100 + static_cast<std::uint64_t>(pair)};
    const BoltzmannMachine machine = start(data, 4, run.seed, at::kFloat);
    const double plain = likelihood(trained(machine, data, run), data);
    run.seed += 1000;  // another draw: the pair is independent
    differences[pair] = plain - likelihood(trained(turned(machine), turned(data), run), turned(data));
  }
  return {differences.mean().item<double>(),
          (differences.std() / std::sqrt(static_cast<double>(pairs))).item<double>()};
}

// Twelve pairs: 5.5 standard errors of Student's t with 11 degrees of freedom are passed by chance once in 5000. What
// damping may do to the mean itself is allowed a hundredth of a nat.
TEST(TurningUnitsRound, LeavesTheLikelihoodUnchangedForFangAndCenteringInPractice) {
  for (const auto& [optimizer, bias, weights] : {std::tuple("fang", 0.05, 0.01), std::tuple("centering", 0.1, 0.1)}) {
    const Difference difference = likelihood_difference(optimizer, bias, weights);
    EXPECT_LT(std::abs(difference.mean), 5.5 * difference.standard_error + 0.01) << optimizer;
  }
}

TEST(TurningUnitsRound, CostsAPlainGradientLikelihoodInPractice) {
  const Difference difference = likelihood_difference("sgd", 0.3, 0.3);
  EXPECT_GT(std::abs(difference.mean), 5.5 * difference.standard_error + 0.01);
}

}  // namespace
}  // namespace harmonium
