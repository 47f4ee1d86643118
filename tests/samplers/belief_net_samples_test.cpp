#include "harmonium/samplers/belief_net_samples.h"

#include <gtest/gtest.h>

#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

support::Row counts_of(const at::Tensor& visible) {
  return support::numbers(
      at::bincount(support::codes(State{{visible}}), {}, std::int64_t{1} << visible.size(1)).to(at::kDouble));
}

// Chi-square over all states of the data's units, false-alarm rate 1e-6 each. Chains of the top machine, with five
// units and weights of size one, are mixed after 60 sweeps.
TEST(BeliefNetSamples, HaveTheProbabilitiesOfTheNet) {
  for (const std::size_t machines : {1U, 2U, 3U}) {
    SCOPED_TRACE(machines);
    const MachineStack all = support::small_belief_net();
    MachineStack stack;  // the lowest ones, so that every depth is a net of its own
    for (std::size_t i = 0; i < machines; ++i) stack.push_back(all[i]);
    const BeliefNetSamples drawn = sample_belief_net(stack, Key(1), 40'000, 60);
    support::expect_frequencies(counts_of(drawn.visible), support::belief_net_probabilities(stack));
  }
}

TEST(BeliefNetSamples, OfAClassHaveTheProbabilitiesGivenThatClass) {
  const MachineStack stack = support::small_belief_net(true);
  for (const std::int64_t label : {0, 2}) {
    SCOPED_TRACE(label);
    const BeliefNetSamples drawn = sample_belief_net(stack, Key(2), 40'000, 60, label);
    support::expect_frequencies(counts_of(drawn.visible), support::belief_net_probabilities(stack, label));
  }
  const BeliefNetSamples any = sample_belief_net(stack, Key(3), 40'000, 60);
  support::expect_frequencies(counts_of(any.visible), support::belief_net_probabilities(stack));
  support::expect_mentions(support::message_of([&] { (void)sample_belief_net(stack, Key(2), 10, 1, 3); }),
                           {"label 3", "0 … 2"});
  support::expect_mentions(
      support::message_of([&] { (void)sample_belief_net(support::small_belief_net(), Key(2), 10, 1, 0); }), {"label"});
}

TEST(BeliefNetSamples, DoNotDependOnTheWayUp) {
  EXPECT_TRUE(at::equal(sample_belief_net(support::small_untied_net(), Key(1), 100, 5).visible,
                        sample_belief_net(support::small_belief_net(), Key(1), 100, 5).visible));
}

// Draws are Bernoulli of their means: the difference of the two averages is within 5.5 standard errors.
TEST(BeliefNetSamples, AreDrawnFromTheirMeans) {
  const BeliefNetSamples drawn = sample_belief_net(support::small_belief_net(), Key(4), 20'000, 20);
  support::expect_mean(drawn.visible - drawn.means, at::zeros({4}, at::kDouble));
}

}  // namespace
}  // namespace harmonium
