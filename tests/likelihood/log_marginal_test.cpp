// log f of rows of data against sums over all hidden states written out, term by term.
#include "harmonium/likelihood/log_marginal.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

constexpr MarginalOptions by_states{.most_work = 1e9};

// Chains of three and four layers, and what is no chain: data on both ends, edges inside layers, a layer that nothing
// is joined to.
std::vector<support::MachineCase> joined_machines() {
  std::vector<support::MachineCase> all = support::deep_machines();
  const auto binary = [](std::int64_t width) { return make_unit("bernoulli:" + std::to_string(width)); };
  all.push_back({"StrongChain", [] {
                   return randomized(make_chain({"bernoulli:4", "bernoulli:4", "bernoulli:4"}, at::kDouble), 31, 2.5);
                 }});
  all.push_back({"LabelOnTop", [=] {
                   return randomized({{{"visible", binary(3), true},
                                       {"hidden1", binary(3)},
                                       {"hidden2", binary(2)},
                                       {"label", make_unit("softmax:1x3"), true}},
                                      {{"visible", "hidden1"}, {"hidden1", "hidden2"}, {"hidden2", "label"}},
                                      at::kDouble},
                                     32);
                 }});
  all.push_back(
      {"EdgesInside", [=] {
         return randomized(
             {{{"visible", binary(3), true}, {"hidden1", binary(3)}, {"hidden2", binary(2)}},
              {{"visible", "visible"}, {"visible", "hidden1"}, {"hidden1", "hidden1"}, {"hidden1", "hidden2"}},
              at::kDouble},
             33);
       }});
  all.push_back(
      {"LonelyLayer", [=] {
         return randomized(
             {{{"visible", binary(3), true}, {"hidden1", binary(3)}, {"hidden2", binary(2)}, {"hidden3", binary(2)}},
              {{"visible", "hidden1"}, {"hidden1", "hidden2"}},
              at::kDouble},
             34);
       }});
  return support::and_general(std::move(all));
}

class JoinedMarginal : public testing::TestWithParam<support::MachineCase> {
 protected:
  // Every combination of values of the observed layers.
  [[nodiscard]] std::vector<support::Configuration> rows() const {
    double log_measure = 0;
    return plain_.completions(support::Configuration(machine_.layers().size()), machine_.observed(), log_measure);
  }
  [[nodiscard]] State state_of(const std::vector<support::Configuration>& all) const {
    State state;
    state.layers.resize(machine_.layers().size());
    for (const std::size_t layer : machine_.observed()) {
      std::vector<support::Row> values;
      for (const support::Configuration& each : all) values.push_back(each[layer]);
      state.layers[layer] = support::to_tensor(values);
    }
    return state;
  }

  const BoltzmannMachine machine_ = GetParam().make();
  const support::PlainMachine plain_{machine_};
};

TEST_P(JoinedMarginal, ByStatesIsTheSumOverAllHiddenStates) {
  const std::vector<support::Configuration> all = rows();
  const LogMarginal found = log_marginal(machine_, state_of(all), by_states);
  EXPECT_TRUE(found.exact);
  EXPECT_TRUE(found.method.find("states of hidden") != std::string::npos) << found.method;
  for (std::size_t n = 0; n < all.size(); ++n)
    EXPECT_NEAR(found.log_f[static_cast<std::int64_t>(n)].item<double>(), plain_.log_sum(all[n], machine_.hidden()),
                1e-10);
}

TEST_P(JoinedMarginal, OfEveryPossibleRowSumsToZ) {
  const LogMarginal found = log_marginal(machine_, state_of(rows()), by_states);
  EXPECT_NEAR(at::logsumexp(found.log_f, 0).item<double>(), exact_log_z(machine_).value, 1e-10);
}

TEST_P(JoinedMarginal, ByMeanFieldIsNeverAboveIt) {
  const State state = state_of(rows());
  const at::Tensor exact = log_marginal(machine_, state, by_states).log_f;
  for (const std::int64_t sweeps : {1, 3, 500}) {
    const LogMarginal bound = log_marginal(machine_, state, {.mean_field = {.most_sweeps = sweeps}});
    EXPECT_FALSE(bound.exact);
    EXPECT_EQ(bound.method, "mean field");
    EXPECT_LE(bound.sweeps, sweeps);
    EXPECT_TRUE((bound.log_f <= exact + 1e-10).all().item<bool>());
    EXPECT_LT((bound.log_f - exact).min().item<double>(), -1e-4) << "a bound that is always tight tests nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, JoinedMarginal, testing::ValuesIn(joined_machines()), support::case_name);

TEST(LogMarginal, SaysWhetherMeanFieldHasSettled) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:4", "bernoulli:4", "bernoulli:4"}, at::kDouble), 35);
  const State data = machine.observe({(uniform(Key(36), {20, 4}, at::kDouble) < 0.5).to(at::kDouble)});
  const LogMarginal hasty = log_marginal(machine, data, {.mean_field = {.most_sweeps = 2, .tolerance = 1e-9}}),
                    settled = log_marginal(machine, data, {.mean_field = {.most_sweeps = 5000, .tolerance = 1e-9}});
  EXPECT_FALSE(hasty.converged);
  EXPECT_EQ(hasty.sweeps, 2);
  EXPECT_GT(hasty.change, 1e-9);
  EXPECT_TRUE(settled.converged);
  EXPECT_LE(settled.change, 1e-9);
  EXPECT_GT(settled.sweeps, 2);
  EXPECT_GE(settled.log_f.mean().item<double>(), hasty.log_f.mean().item<double>());
}

// 10 rows × 2^3 states of the upper layer × (4 units summed out + 1).
TEST(LogMarginal, VisitsStatesWhereThatCostsNoMoreThanItMay) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:5", "bernoulli:4", "bernoulli:3"}, at::kDouble), 37);
  const State data = machine.observe({(uniform(Key(38), {10, 5}, at::kDouble) < 0.5).to(at::kDouble)});
  EXPECT_TRUE(log_marginal(machine, data, {.most_work = 400}).exact);
  EXPECT_FALSE(log_marginal(machine, data, {.most_work = 399}).exact);
  EXPECT_EQ(log_marginal(machine, data, {.most_work = 400}).method, "2^3 states of hidden2");
}

// More states than fit beside all rows at once, more rows than a block has.
TEST(LogMarginal, DoesNotDependOnItsPieces) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:5", "bernoulli:9", "bernoulli:8"}, at::kDouble), 39, 0.5).to(at::kFloat);
  const at::Tensor v = (uniform(Key(40), {4100, 5}) < 0.5).to(at::kFloat);
  const LogMarginal all = log_marginal(machine, machine.observe({v}), by_states);
  ASSERT_TRUE(all.exact);
  EXPECT_EQ(all.log_f.scalar_type(), at::kDouble);
  for (const std::int64_t row : {0, 4095, 4096, 4099})
    EXPECT_NEAR(all.log_f[row].item<double>(),
                log_marginal(machine, machine.observe({v.narrow(0, row, 1)}), by_states).log_f.item<double>(), 1e-10);
}

TEST(LogMarginal, NeedsNeitherWhereHiddenLayersShareNoEdge) {
  const BoltzmannMachine machine = randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 41);
  const State data = machine.observe({(uniform(Key(42), {10, 3}, at::kDouble) < 0.5).to(at::kDouble)});
  const LogMarginal found = log_marginal(machine, data);
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.method, "closed form");
  EXPECT_TRUE(at::equal(found.log_f, machine.log_sum_out(data, machine.hidden())));
}

TEST(JoinedMarginalOf, AnnealedRowsLieOnBothSidesOfTheSumOverAllStates) {
  const BoltzmannMachine machine =
      randomized(make_chain({"bernoulli:4", "bernoulli:5", "bernoulli:4"}, at::kDouble), 41, 2);
  State data;
  data.layers = {support::to_tensor(support::points_of("bernoulli:4").rows), {}, {}};
  const at::Tensor truth = log_marginal(machine, data, by_states).log_f;
  MarginalOptions options;
  options.annealing = RowAnnealingOptions{.chains = 32, .betas = 200};
  options.key = Key(3);
  const LogMarginal found = log_marginal(machine, data, options);
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(found.method, "annealing with data held");
  EXPECT_LT((found.log_f - truth).abs().mean().item<double>(), 0.05);
  EXPECT_LT((found.at_most - truth).abs().mean().item<double>(), 0.1);
}

}  // namespace
}  // namespace harmonium
