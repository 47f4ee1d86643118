// Annealing over hidden layers with data held, against sums over all hidden states.
#include "harmonium/likelihood/row_annealing.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/log_marginal.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

State random_rows(const BoltzmannMachine& machine, std::int64_t rows, std::uint64_t seed) {
  State all = machine.independent_sample(Key(seed), rows), data;
  data.layers.resize(machine.layers().size());
  for (const std::size_t layer : machine.observed()) data.layers[layer] = all.layers[layer];
  return data;
}

at::Tensor by_all_states(const BoltzmannMachine& machine, const State& data) {
  const LogMarginal found = log_marginal(machine, data, {.most_work = 1e10});
  EXPECT_TRUE(found.exact);
  return found.log_f;
}

// Weights strong enough that mean field is a tenth of a nat and more below the truth.
BoltzmannMachine strong_chain(std::uint64_t seed) {
  return randomized(make_chain({"bernoulli:8", "bernoulli:10", "bernoulli:9"}, at::kDouble), seed, 1.0);
}

// Hidden units joined to each other inside their layer, as strong.
BoltzmannMachine strong_general(std::uint64_t seed) {
  return randomized(make_boltzmann("bernoulli:8", "bernoulli:10", {}, at::kDouble), seed, 1.0);
}

class StrongMachine : public testing::TestWithParam<BoltzmannMachine (*)(std::uint64_t)> {
 protected:
  [[nodiscard]] static BoltzmannMachine make(std::uint64_t seed) { return GetParam()(seed); }
};
INSTANTIATE_TEST_SUITE_P(Of, StrongMachine, testing::Values(&strong_chain, &strong_general),
                         [](const auto& one) { return one.index == 0 ? "Chain" : "General"; });

TEST_P(StrongMachine, FindsTheSumOverAllHiddenStates) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const BoltzmannMachine machine = make(seed);
    const State data = random_rows(machine, 20, 40 + seed);
    const at::Tensor truth = by_all_states(machine, data);
    const at::Tensor mean_field = log_marginal(machine, data).log_f;
    EXPECT_GT((truth - mean_field).mean().item<double>(), 0.05);  // else there would be nothing to find
    const AnnealedRows found = anneal_rows(machine, data, Key(seed), {.chains = 64, .betas = 500}, true);
    EXPECT_LT((found.log_f - truth).mean().abs().item<double>(), 0.02);
    EXPECT_LT((found.at_most - truth).mean().abs().item<double>(), 0.1);
  }
}

// E[w] = f(v) holds for any number of steps, so a short walk is unbiased too: the mean of w/f over 4000 independent
// chains is 1 within 5.5 standard errors (false-alarm rate 4e-8 a row).
TEST_P(StrongMachine, HasUnbiasedWeightsHoweverShortTheWalk) {
  constexpr std::int64_t rows = 3, repeats = 4000;
  const BoltzmannMachine machine = make(7);
  State data = random_rows(machine, rows, 8);
  const at::Tensor truth = by_all_states(machine, data);
  data.layers[0] = data.layers[0].repeat({repeats, 1});
  for (const std::int64_t betas : {1, 4}) {
    const at::Tensor found = anneal_rows(machine, data, Key(100), {.chains = 1, .betas = betas}).log_f;
    const at::Tensor table = (found.reshape({repeats, rows}) - truth).exp();
    const at::Tensor error = table.std(0) / std::sqrt(static_cast<double>(repeats));
    EXPECT_TRUE(((table.mean(0) - 1).abs() <= 5.5 * error).all().item<bool>()) << table.mean(0) << error;
  }
}

// Three steps of two chains leave a gap between both sides, and the truth lies in it: on average over 200 rows, within
// 5.5 standard errors of the differences (false-alarm rate 2e-8 a side).
TEST_P(StrongMachine, BracketsTheTruthOnAverage) {
  const BoltzmannMachine machine = make(9);
  const State data = random_rows(machine, 200, 10);
  const at::Tensor truth = by_all_states(machine, data);
  const AnnealedRows found = anneal_rows(machine, data, Key(11), {.chains = 2, .betas = 3}, true);
  const auto at_best = [](const at::Tensor& difference) {
    return difference.mean().item<double>() + 5.5 * difference.std().item<double>() / std::sqrt(200.0);
  };
  EXPECT_GT(at_best(truth - found.log_f), 0);
  EXPECT_GT(at_best(found.at_most - truth), 0);
  EXPECT_GT((found.at_most - found.log_f).mean().item<double>(), 0.02);
}

TEST(RowAnnealing, IsExactWhereHiddenLayersShareNoWeight) {
  BoltzmannMachine machine = strong_chain(12);
  machine.parameters()["hidden1_hidden2.weights"].zero_();
  const State data = random_rows(machine, 5, 13);
  const AnnealedRows found = anneal_rows(machine, data, Key(14), {.chains = 2, .betas = 3}, true);
  support::expect_close(found.log_f, by_all_states(machine, data), 1e-9);
  support::expect_close(found.at_most, by_all_states(machine, data), 1e-9);
  EXPECT_NEAR(found.effective, 2, 1e-9);
}

TEST(RowAnnealing, IsExactWhereUnitsOfALayerShareNoWeight) {
  BoltzmannMachine machine = strong_general(22);
  machine.parameters()["hidden_hidden.weights"].zero_();
  const State data = random_rows(machine, 5, 23);
  const AnnealedRows found = anneal_rows(machine, data, Key(24), {.chains = 2, .betas = 3}, true);
  support::expect_close(found.log_f, by_all_states(machine, data), 1e-9);
  support::expect_close(found.at_most, by_all_states(machine, data), 1e-9);
}

TEST(RowAnnealing, TakesThreeHiddenLayersSoftmaxUnitsAndLabels) {
  const auto binary = [](std::int64_t width) { return make_unit("bernoulli:" + std::to_string(width)); };
  const std::vector<BoltzmannMachine> machines = {
      randomized(make_chain({"bernoulli:4", "bernoulli:4", "softmax:2x3", "bernoulli:4"}, at::kDouble), 15),
      randomized({{{"visible", binary(3), true},
                   {"hidden1", binary(4)},
                   {"hidden2", binary(4)},
                   {"label", make_unit("softmax:1x3"), true}},
                  {{"visible", "visible"}, {"visible", "hidden1"}, {"hidden1", "hidden2"}, {"hidden2", "label"}},
                  at::kDouble},
                 16),
      randomized(make_boltzmann("bernoulli:4", "softmax:3x3", {}, at::kDouble), 25),
      randomized({{{"visible", binary(3), true}, {"hidden1", binary(4)}, {"hidden2", binary(4)}},
                  {{"visible", "hidden1"}, {"hidden1", "hidden1"}, {"hidden1", "hidden2"}},
                  at::kDouble},
                 26)};
  for (const BoltzmannMachine& machine : machines) {
    const State data = random_rows(machine, 20, 17);
    const AnnealedRows found = anneal_rows(machine, data, Key(18), {.chains = 64, .betas = 300});
    EXPECT_LT((found.log_f - by_all_states(machine, data)).abs().max().item<double>(), 0.1);
  }
}

TEST(RowAnnealing, RefusesContinuousHiddenLayers) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:3", "bernoulli:3", "gaussian:1"}, at::kDouble), 19);
  EXPECT_THROW((void)anneal_rows(machine, random_rows(machine, 2, 20), Key(21)), Error);
}

}  // namespace
}  // namespace harmonium
