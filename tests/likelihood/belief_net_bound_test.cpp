#include "harmonium/likelihood/belief_net_bound.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

TEST(BeliefNetBound, IsTheExpectedBracketMinusLogZAndNeverAboveTheExactLogLikelihood) {
  for (const auto& [labelled, tied] : {std::pair{false, true}, {true, true}, {false, false}, {true, false}}) {
    SCOPED_TRACE(format("labelled {}, tied {}", labelled, tied));
    const BeliefNet net = tied ? support::small_belief_net(labelled) : support::small_untied_net(labelled);
    const std::vector<support::Bits> states = support::all_bits(4);
    const std::vector<double> p = support::belief_net_probabilities(net.down);
    const double log_z = exact_log_z(net.top()).value;
    double gap = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const double bound = support::exact_bound(net, states[i]);
      EXPECT_LE(bound, std::log(p[i]) + 1e-12);
      gap = std::max(gap, std::log(p[i]) - bound);
      // Repeated draws of one row: their mean within 5.5 standard errors (support/statistics.h).
      const at::Tensor rows = support::to_rows({states[i]}).expand({4000, 4});
      const at::Tensor weights = belief_net_log_weights(net, rows, Key(i)) - log_z;
      support::expect_mean(weights, at::full({}, bound, at::kDouble));
      // Not only the mean of logarithms: e^w is unbiased for p(v), which holds the noise to the same integral.
      support::expect_mean(weights.exp(), at::full({}, p[i], at::kDouble));
    }
    EXPECT_GT(gap, 0.01) << "the bound is tight everywhere: nothing was tested";
  }
}

TEST(BeliefNetBound, IsExactForOneMachineAndForOneTurnedOverAboveAnother) {
  const BoltzmannMachine machine = support::small_belief_net()[0];
  const at::Tensor rows = support::to_rows(support::all_bits(4));
  const std::vector<double> p = support::belief_net_probabilities({machine});
  const at::Tensor exact = at::tensor(p, at::kDouble).log();
  const double log_z = exact_log_z(machine).value;
  support::expect_close(belief_net_log_weights(MachineStack{machine}, rows, Key(1)) - log_z, exact, 1e-10);
  support::expect_close(
      belief_net_log_weights(MachineStack{machine, support::turned_over(machine)}, rows, Key(1)) - log_z, exact, 1e-10,
      "whatever is drawn between them");
}

// Recognition machines that are the machines themselves change nothing, draw by draw.
TEST(BeliefNetBound, OfATiedNetIsASpecialCaseOfThatOfAnUntiedOne) {
  const MachineStack stack = support::small_belief_net();
  const at::Tensor rows = support::to_rows(support::all_bits(4));
  support::expect_close(belief_net_log_weights(untied(stack), rows, Key(3)),
                        belief_net_log_weights(stack, rows, Key(3)), 1e-12);
}

TEST(BeliefNetBound, SaysWhatItIs) {
  const MachineStack stack = support::small_belief_net();
  const at::Tensor rows = support::to_rows(support::all_bits(4));
  const Estimate exact = exact_log_z(stack.back());
  const Estimate bound = belief_net_bound(stack, rows, exact, 20, Key(5));
  double expected = 0, truth = 0;
  const std::vector<double> p = support::belief_net_probabilities(stack);
  for (std::size_t i = 0; i < 16; ++i) {
    expected += support::exact_bound(stack, support::all_bits(4)[i]) / 16;
    truth += std::log(p[i]) / 16;
  }
  EXPECT_EQ(bound.kind, EstimateKind::lower_bound);
  EXPECT_LT(bound.low, bound.value);
  // 5.5 standard errors of the draws, which the interval has 1.96 of.
  EXPECT_NEAR(bound.value, expected, 5.5 / 1.96 * (bound.high - bound.value));
  EXPECT_LT(bound.value, truth);
  EXPECT_NE(bound.method.find("20 draws"), std::string::npos);

  Estimate guessed = exact;
  guessed.kind = EstimateKind::unbiased_estimate;
  EXPECT_EQ(belief_net_bound(stack, rows, guessed, 2, Key(5)).kind, EstimateKind::estimate);
  guessed.kind = EstimateKind::upper_bound;
  EXPECT_EQ(belief_net_bound(stack, rows, guessed, 2, Key(5)).kind, EstimateKind::lower_bound);
  guessed.kind = EstimateKind::lower_bound;
  EXPECT_EQ(belief_net_bound(stack, rows, guessed, 2, Key(5)).kind, EstimateKind::estimate);
  EXPECT_EQ(belief_net_bound(MachineStack{stack[0]}, rows, exact_log_z(stack[0]), 2, Key(5)).kind, EstimateKind::exact);
}

}  // namespace
}  // namespace harmonium
