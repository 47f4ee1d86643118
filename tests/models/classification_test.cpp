#include "harmonium/models/classification.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

TEST(LogLabelProbabilities, AreTheConditionalsOfTheJointByEnumeration) {
  for (const std::string visible : {"bernoulli:3", "softmax:2x2"}) {
    const BoltzmannMachine machine =
        support::randomized(make_classification_rbm(visible, 3, "bernoulli:3", at::kDouble), 12);
    const support::BruteForce brute(machine);
    const std::vector<support::Row> inputs = support::points_of(visible).rows;
    std::vector<support::Row> expected;
    for (const support::Row& v : inputs) {
      support::Row joint(3, 0), total(3, 0);
      for (std::size_t n = 0; n < brute.configurations.size(); ++n) {
        const support::Configuration& x = brute.configurations[n];
        if (x[0] != v) continue;
        for (std::size_t c = 0; c < 3; ++c) joint[c] += x[1][c] * brute.probabilities[n];
      }
      const double sum = joint[0] + joint[1] + joint[2];
      expected.push_back({std::log(joint[0] / sum), std::log(joint[1] / sum), std::log(joint[2] / sum)});
    }
    expect_close(log_label_probabilities(machine, support::to_tensor(inputs)), support::to_tensor(expected), 1e-12);
  }
}

TEST(LogLabelProbabilities, HoldForRealInputs) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("gaussian:2", 4, "bernoulli:3", at::kDouble), 13);
  const support::PlainMachine plain(machine);
  const std::vector<support::Row> inputs = {{0.4, -1.3}, {2.1, 0.2}};
  std::vector<support::Row> expected;
  for (const support::Row& v : inputs) {
    support::Row scores;
    for (const support::Row& label : support::points_of("softmax:1x4").rows)
      scores.push_back(plain.log_sum({v, label, {}}, {2}));
    // points_of lists the labels in order.
    const double total = support::log_sum_exp(scores);
    for (double& score : scores) score -= total;
    expected.push_back(scores);
  }
  expect_close(log_label_probabilities(machine, support::to_tensor(inputs)), support::to_tensor(expected), 1e-12);
}

TEST(LogLabelProbabilities, NeedALabelLayer) {
  support::expect_mentions(
      support::message_of([] {
        static_cast<void>(log_label_probabilities(make_rbm("bernoulli:2", "bernoulli:2"), at::zeros({1, 2})));
      }),
      {"label"});
}

// 3 classes × 901 hidden units: a piece holds 387 rows.
TEST(LogLabelProbabilities, DoNotDependOnTheRowsBesideThem) {
  const BoltzmannMachine machine =
      support::randomized(make_classification_rbm("bernoulli:6", 3, "bernoulli:900", at::kDouble), 14, 0.2);
  const at::Tensor rows = uniform(Key(15), {1000, 6}, at::kDouble);
  const at::Tensor all = log_label_probabilities(machine, rows);
  for (const std::int64_t row : {0, 386, 387, 388, 774, 999}) {
    SCOPED_TRACE(row);
    expect_close(all.narrow(0, row, 1), log_label_probabilities(machine, rows.narrow(0, row, 1)), 1e-12);
  }
  expect_close(all.exp().sum(1), at::ones({1000}, at::kDouble), 1e-12);
}

TEST(LabelLayer, IsRefusedWhereItIsJoinedToData) {
  const BoltzmannMachine machine({{"visible", make_unit("bernoulli:2"), true},
                                  {"label", make_unit("softmax:1x3"), true},
                                  {"hidden", make_unit("bernoulli:2")}},
                                 {{"visible", "label"}, {"label", "hidden"}}, at::kDouble);
  support::expect_mentions(support::message_of([&] { static_cast<void>(label_layer(machine)); }), {"visible_label"});
}

}  // namespace
}  // namespace harmonium
