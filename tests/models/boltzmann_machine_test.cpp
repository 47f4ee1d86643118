// Energies, sums, conditionals and moments of machines of every arrangement, against plain loops over their states.
#include "harmonium/models/boltzmann_machine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::BruteForce;
using support::Configuration;
using support::expect_close;
using support::PlainMachine;
using support::Row;

// At most `count` configurations, spread over all of them.
std::vector<Configuration> some_of(const std::vector<Configuration>& all, std::size_t count) {
  const std::size_t stride =
      std::max<std::size_t>(1, all.size() / count) | 1U;  // odd, so that it runs through all bits
  std::vector<Configuration> result;
  for (std::size_t n = 0; n < all.size() && result.size() < count; n += stride) result.push_back(all[n]);
  return result;
}

class AnyMachine : public testing::TestWithParam<support::MachineCase> {
 protected:
  const BoltzmannMachine machine = GetParam().make();
  const PlainMachine plain{machine};
  const BruteForce brute{machine};
};

TEST_P(AnyMachine, LogPotentialIsMinusTheEnergyWrittenOut) {
  Row expected;
  const auto configurations = some_of(brute.configurations, 2000);
  for (const Configuration& x : configurations) expected.push_back(plain.negative_energy(x));
  const at::Tensor actual = machine.log_potential(support::to_state(configurations));
  EXPECT_EQ(actual.scalar_type(), at::kDouble);
  expect_close(actual, support::to_tensor({expected})[0], 1e-12);
}

TEST_P(AnyMachine, LogSumOutIsTheSumOverAllStatesOfTheBlock) {
  const auto configurations = some_of(brute.configurations, 40);
  for (const LayerSet& all : machine.blocks()) {
    const LayerSet block = machine.without_inner_edges(all);
    Row expected;
    for (const Configuration& x : configurations) expected.push_back(plain.log_sum(x, block));
    State state = support::to_state(configurations);
    for (const std::size_t layer : block) state.layers[layer] = at::Tensor();  // must not be looked at
    expect_close(machine.log_sum_out(state, block), support::to_tensor({expected})[0], 1e-12);
  }
}

TEST_P(AnyMachine, ALayerGivenItsFieldHasTheConditionalDistributionOfTheJoint) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    for (const Configuration& x : some_of(brute.configurations, 10)) {
      if (machine.inner_edge(layer) != nullptr) continue;  // its units are not independent: see below
      double log_measure = 0;
      const auto values = plain.completions(x, {layer}, log_measure);
      Row weights;
      for (const Configuration& value : values) weights.push_back(plain.log_weight(value));
      const at::Tensor p = support::to_tensor({support::normalized(weights)})[0];
      const State all = support::to_state(values);

      const at::Tensor field = machine.field(layer, support::to_state({x}));
      Unit::Parameters theta = machine.layer_parameters(layer);
      expect_close(machine.unit(layer).mean(field, theta)[0], p.matmul(all.layers[layer]), 1e-11);
      theta[0] = field[0];
      Row cells;
      for (const Configuration& value : values)
        cells.push_back(log_measure + support::log_cell(machine.unit(layer).spec(), value[layer]));
      const at::Tensor log_p = machine.unit(layer).log_factor(all.layers[layer], theta) -
                               machine.unit(layer).log_partition(field, theta) + support::to_tensor({cells})[0];
      expect_close(log_p.exp(), p, 1e-12);
    }
}

TEST_P(AnyMachine, AUnitGivenItsFieldHasTheConditionalDistributionOfTheJoint) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    if (!machine.unit(layer).state_count()) continue;
    const Unit::Digit digit = machine.unit(layer).digit();
    const auto columns = static_cast<std::size_t>(digit.columns);
    const at::Tensor part_values = machine.unit(layer).part_values(at::kDouble);
    for (const Configuration& x : some_of(brute.configurations, 10)) {
      const at::Tensor mean =
          machine.unit(layer).mean(machine.field(layer, support::to_state({x})), machine.layer_parameters(layer));
      for (std::size_t first = 0; first < x[layer].size(); first += columns) {
        Row weights;
        for (std::size_t value = 0; value < static_cast<std::size_t>(digit.values); ++value) {
          Configuration other = x;
          for (std::size_t c = 0; c < columns; ++c)
            other[layer][first + c] =
                part_values[static_cast<std::int64_t>(value)][static_cast<std::int64_t>(c)].item<double>();
          weights.push_back(plain.negative_energy(other));
        }
        const at::Tensor expected = support::to_tensor({support::normalized(weights)}).mm(part_values);
        expect_close(mean.narrow(1, static_cast<std::int64_t>(first), digit.columns), expected, 1e-12);
      }
    }
  }
}

TEST_P(AnyMachine, InputIsTheFieldWithoutTheBias) {
  const State state = support::to_state(some_of(brute.configurations, 10));
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    expect_close(machine.input(layer, state) + machine.layer_parameters(layer)[0], machine.field(layer, state), 1e-13);
}

TEST_P(AnyMachine, MomentsAreAveragesOfTheStatistics) {
  const auto configurations = some_of(brute.configurations, 30);
  const State state = support::to_state(configurations);
  const auto n = static_cast<std::int64_t>(configurations.size());
  expect_close(
      machine.moments(state),
      support::expected_statistics(machine, configurations, Row(configurations.size(), 1.0 / static_cast<double>(n))),
      1e-12);
  const at::Tensor weights = at::softmax(normal(Key(1), {n}, at::kDouble), 0);
  expect_close(machine.moments(state, {}, weights),
               support::expected_statistics(machine, configurations, support::numbers(weights)), 1e-12);
}

TEST_P(AnyMachine, MomentsAreAddedInPlace) {
  const State state = support::to_state(some_of(brute.configurations, 30));
  const LayerSet block = machine.without_inner_edges(machine.blocks().back());
  const Fields fields = machine.fields(block, state);
  Moments sum = machine.parameters().clone();
  machine.add_moments_(sum, -2, state, fields);
  expect_close(sum, machine.parameters() - 2 * machine.moments(state, fields), 1e-12);
}

TEST_P(AnyMachine, MomentsGivenFieldsAreExpectationsOverTheBlock) {
  const auto configurations = some_of(brute.configurations, 12);
  const State state = support::to_state(configurations);
  const at::Tensor weights =
      at::softmax(normal(Key(2), {static_cast<std::int64_t>(configurations.size())}, at::kDouble), 0);
  for (const LayerSet& all : machine.blocks()) {
    const LayerSet block = machine.without_inner_edges(all);
    // Every row becomes all its completions, weighted by their conditional probabilities.
    std::vector<Configuration> expanded;
    Row expanded_weights, plain_weights;
    for (std::size_t n = 0; n < configurations.size(); ++n) {
      double log_measure = 0;
      const auto values = plain.completions(configurations[n], block, log_measure);
      Row log_weights;
      for (const Configuration& value : values) log_weights.push_back(plain.log_weight(value));
      for (const double p : support::normalized(log_weights)) {
        expanded_weights.push_back(p * weights[static_cast<std::int64_t>(n)].item<double>());
        plain_weights.push_back(p / static_cast<double>(configurations.size()));
      }
      expanded.insert(expanded.end(), values.begin(), values.end());
    }
    const Fields fields = machine.fields(block, state);
    expect_close(machine.moments(state, fields, weights),
                 support::expected_statistics(machine, expanded, expanded_weights), 1e-11);
    expect_close(machine.moments(state, fields), support::expected_statistics(machine, expanded, plain_weights), 1e-11);
  }
}

TEST_P(AnyMachine, BlocksPartitionTheLayersWithoutEdgesInside) {
  std::vector<int> seen(machine.layers().size(), 0);
  std::vector<std::size_t> block_of(machine.layers().size());
  for (std::size_t b = 0; b < machine.blocks().size(); ++b)
    for (const std::size_t layer : machine.blocks()[b]) {
      ++seen[layer];
      block_of[layer] = b;
    }
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.inner()) continue;
    EXPECT_NE(block_of[edge.lower], block_of[edge.upper]);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, AnyMachine,
                         testing::ValuesIn(support::and_general(support::and_inner(support::all_machines()))),
                         support::case_name);

// Both layers continuous: nothing can be enumerated, but one side can still be integrated given the other.
TEST(GaussianGaussianRbm, LogSumOutIsTheIntegralOverTheOtherLayer) {
  const BoltzmannMachine machine = support::randomized(make_rbm("gaussian:2", "gaussian:2", at::kDouble), 7, 0.4);
  const PlainMachine plain(machine);
  const std::vector<Configuration> rows = {{{0.3, -1.2}, {0.1, 0.7}}, {{-1.9, 0.4}, {-0.6, 1.5}}};
  for (const std::size_t summed : {0U, 1U}) {
    const Row expected = {plain.log_sum(rows[0], {summed}), plain.log_sum(rows[1], {summed})};
    expect_close(machine.log_sum_out(support::to_state(rows), {summed}), support::to_tensor({expected})[0], 1e-12);
  }
}

TEST(SoftmaxGaussianRbm, LogSumOutIsTheIntegralOverTheHiddenLayer) {
  const BoltzmannMachine machine = support::randomized(make_rbm("softmax:2x3", "gaussian:2", at::kDouble), 8);
  const BruteForce brute(machine);
  const PlainMachine plain(machine);
  const auto rows = some_of(brute.configurations, 20);
  Row expected;
  for (const Configuration& x : rows) expected.push_back(plain.log_sum(x, {1}));
  expect_close(machine.log_sum_out(support::to_state(rows), {1}), support::to_tensor({expected})[0], 1e-12);
}

// −F(v) = aᵀv + Σ_j softplus(b_j + vᵀW_j), written out for one visible vector.
TEST(Rbm, FreeEnergyIsTheTextbookFormula) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 9);
  const at::Tensor a = machine.parameters()["visible.bias"], b = machine.parameters()["hidden.bias"],
                   W = machine.parameters()["visible_hidden.weights"];
  const at::Tensor v = at::tensor({1.0, 0.0, 1.0}, at::kDouble);
  double expected = a.dot(v).item<double>();
  for (std::int64_t j = 0; j < 2; ++j)
    expected += std::log1p(std::exp(b[j].item<double>() + W.select(1, j).dot(v).item<double>()));
  EXPECT_NEAR(machine.log_sum_out(machine.observe({v.unsqueeze(0)}), machine.hidden()).item<double>(), expected, 1e-13);
}

TEST(Rbm, ConditionalOfAHiddenUnitIsTheLogisticOfItsInput) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 10);
  const at::Tensor v = at::tensor({0.0, 1.0, 1.0}, at::kDouble).unsqueeze(0);
  const at::Tensor mean = machine.unit(1).mean(machine.field(1, machine.observe({v})), machine.layer_parameters(1));
  const at::Tensor W = machine.parameters()["visible_hidden.weights"], b = machine.parameters()["hidden.bias"];
  for (std::int64_t j = 0; j < 2; ++j) {
    const double input = (b[j] + W[1][j] + W[2][j]).item<double>();
    EXPECT_NEAR(mean[0][j].item<double>(), 1 / (1 + std::exp(-input)), 1e-14);
  }
}

}  // namespace
}  // namespace harmonium
