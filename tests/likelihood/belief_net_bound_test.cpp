#include "harmonium/likelihood/belief_net_bound.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

// Σ_h q(h | v) [log p(v, h) − log q(h | v)] over all hidden states below the top machine, in plain loops.
double exact_bound(const MachineStack& stack, const support::Bits& visible, std::size_t l = 0) {
  const BoltzmannMachine& machine = stack[l];
  const bool top = l + 1 == stack.size();
  if (top) {
    const std::vector<double> p = support::belief_net_probabilities({machine});
    std::size_t number = 0;
    for (std::size_t i = 0; i < visible.size(); ++i) number += static_cast<std::size_t>(visible[i]) << i;
    return std::log(p[number]);
  }
  double total = 0, result = 0;
  const std::vector<support::Bits> hidden = support::all_bits(support::hidden_width(machine));
  for (const support::Bits& h : hidden) total += support::weight_of(machine, visible, h);
  for (const support::Bits& h : hidden) {
    double below = 0;
    for (const support::Bits& v : support::all_bits(machine.unit(0).width()))
      below += support::weight_of(machine, v, h);
    const double weight = support::weight_of(machine, visible, h), q = weight / total;
    result += q * (std::log(weight / below) - std::log(q) + exact_bound(stack, h, l + 1));
  }
  return result;
}

TEST(BeliefNetBound, IsTheExpectedBracketMinusLogZAndNeverAboveTheExactLogLikelihood) {
  for (const bool labelled : {false, true}) {
    SCOPED_TRACE(labelled);
    const MachineStack stack = support::small_belief_net(labelled);
    const std::vector<support::Bits> states = support::all_bits(4);
    const std::vector<double> p = support::belief_net_probabilities(stack);
    const double log_z = exact_log_z(stack.back()).value;
    double gap = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const double bound = exact_bound(stack, states[i]);
      EXPECT_LE(bound, std::log(p[i]) + 1e-12);
      gap = std::max(gap, std::log(p[i]) - bound);
      // Repeated draws of one row: their mean within 5.5 standard errors (support/statistics.h).
      const at::Tensor rows = support::to_rows({states[i]}).expand({4000, 4});
      const at::Tensor weights = belief_net_log_weights(stack, rows, Key(i)) - log_z;
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
  support::expect_close(belief_net_log_weights({machine}, rows, Key(1)) - log_z, exact, 1e-10);
  support::expect_close(belief_net_log_weights({machine, support::turned_over(machine)}, rows, Key(1)) - log_z, exact,
                        1e-10, "whatever is drawn between them");
}

TEST(BeliefNetBound, SaysWhatItIs) {
  const MachineStack stack = support::small_belief_net();
  const at::Tensor rows = support::to_rows(support::all_bits(4));
  const Estimate exact = exact_log_z(stack.back());
  const Estimate bound = belief_net_bound(stack, rows, exact, 20, Key(5));
  double expected = 0, truth = 0;
  const std::vector<double> p = support::belief_net_probabilities(stack);
  for (std::size_t i = 0; i < 16; ++i) {
    expected += exact_bound(stack, support::all_bits(4)[i]) / 16;
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
  EXPECT_EQ(belief_net_bound({stack[0]}, rows, exact_log_z(stack[0]), 2, Key(5)).kind, EstimateKind::exact);
}

}  // namespace
}  // namespace harmonium
