// Gibbs sampling with some units known, against the exact conditional distribution. Chi-square with a false-alarm rate
// of 1e-6 each and fixed seeds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonium/samplers/gibbs.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::Row;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

struct ConditionalCase {
  std::string name;
  BoltzmannMachine machine;
  std::vector<Row> known;  // one row per layer; empty where the whole layer is free
  friend void PrintTo(const ConditionalCase& one, std::ostream* out) { *out << one.name; }
};

std::vector<ConditionalCase> conditional_cases() {
  const BoltzmannMachine rbm = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 101);
  const BoltzmannMachine potts = support::randomized(make_rbm("softmax:2x3", "bernoulli:3", at::kDouble), 102);
  const BoltzmannMachine labelled =
      support::randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:2", at::kDouble), 103);
  const BoltzmannMachine chain =
      support::randomized(make_chain({"bernoulli:3", "bernoulli:2", "bernoulli:2"}, at::kDouble), 104);
  const BoltzmannMachine labelled_chain =
      support::randomized(make_labelled_chain({"bernoulli:3", "bernoulli:2", "bernoulli:2"}, 3, at::kDouble), 105);
  return {{"SomeVisible", rbm, {{1, unknown, 0, unknown}, {}}},
          {"AllVisible", rbm, {{1, 0, 0, 1}, {}}},
          {"VisibleAndHidden", rbm, {{unknown, unknown, unknown, 1}, {unknown, 1, unknown}}},
          {"Nothing", rbm, {{}, {}}},
          {"OneSoftmaxGroup", potts, {{unknown, unknown, unknown, 0, 0, 1}, {}}},
          {"TheLabel", labelled, {{}, {0, 1, 0}, {}}},
          {"TheDataOfALabel", labelled, {{1, unknown, 1}, {}, {}}},
          {"BothEndsOfAChain", chain, {{unknown, 1, unknown}, {}, {0, unknown}}},
          {"TheLabelOfADeepMachine", labelled_chain, {{}, {}, {}, {0, 1, 0}}},
          {"TheLabelAndSomePixels", labelled_chain, {{1, unknown, 0}, {}, {}, {0, 0, 1}}}};
}

class ConditionalGibbs : public testing::TestWithParam<ConditionalCase> {};

TEST_P(ConditionalGibbs, HoldsTheKnownUnitsAndSamplesTheOthersGivenThem) {
  constexpr std::int64_t chains = 100'000;
  const support::ThreadCount one_thread(1);
  const auto& [name, machine, known] = GetParam();
  const support::BruteForce brute(machine);

  Row conditional = brute.probabilities;
  double total = 0;
  for (std::size_t n = 0; n < conditional.size(); ++n) {
    for (std::size_t layer = 0; layer < known.size(); ++layer)
      for (std::size_t i = 0; i < known[layer].size(); ++i)
        if (!std::isnan(known[layer][i]) && known[layer][i] != brute.configurations[n][layer][i]) conditional[n] = 0;
    total += conditional[n];
  }
  for (double& p : conditional) p /= total;

  KnownUnits values;
  for (const Row& row : known) values.push_back(row.empty() ? at::Tensor() : support::to_tensor({row}));
  State state = machine.independent_sample(Key(105), chains);
  conditional_gibbs(machine, state, Key(106), 20, values);
  support::expect_frequencies(support::count_configurations(state, brute.configurations), conditional);
}

INSTANTIATE_TEST_SUITE_P(Cases, ConditionalGibbs, testing::ValuesIn(conditional_cases()),
                         [](const auto& one) { return one.param.name; });

TEST(ConditionalGibbsSampling, TakesOtherKnownValuesForEveryRow) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 107);
  at::Tensor values = (uniform(Key(108), {50, 4}, at::kDouble) < 0.5).to(at::kDouble);
  const at::Tensor free = uniform(Key(109), {50, 4}, at::kDouble) < 0.5;
  State state = machine.independent_sample(Key(110), 50);
  conditional_gibbs(machine, state, Key(111), 3, {values.masked_fill(free, unknown), at::Tensor()});
  EXPECT_TRUE(at::equal(state.layers[0].masked_fill(free, 0), values.masked_fill(free, 0)));
  EXPECT_FALSE(state.layers[0].isnan().any().item<bool>());
}

TEST(ConditionalGibbsSampling, NeedsAnEntryForEveryLayer) {
  const BoltzmannMachine machine = make_rbm("bernoulli:4", "bernoulli:3", at::kDouble);
  State state = machine.independent_sample(Key(112), 2);
  support::expect_mentions(support::message_of([&] {
                             conditional_gibbs(machine, state, Key(113), 1, {at::zeros({1, 4}, at::kDouble)});
                           }),
                           {"1", "2"});
}

}  // namespace
}  // namespace harmonium
