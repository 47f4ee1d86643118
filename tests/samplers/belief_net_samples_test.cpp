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

// Row `look` of every chain.
at::Tensor look_of(const at::Tensor& rows, std::int64_t looks, std::int64_t look) {
  return rows.view({-1, looks, rows.size(1)}).select(1, look).contiguous();
}

// States 60 sweeps apart of chains that begin as coins: each look has the frequencies of the net by itself (chi-square,
// false-alarm rate 1e-6 each), and the first has the draws of a single look.
TEST(BeliefNetSamples, AreTakenOfAChainAgainAndAgain) {
  const MachineStack stack = support::small_belief_net();
  const BeliefNetSamples walk =
      sample_belief_net(stack, Key(7), {.chains = 20'000, .looks = 3, .sweeps = 60, .every = 60, .from_noise = true});
  ASSERT_EQ(walk.visible.size(0), 60'000);
  for (std::int64_t look = 0; look < 3; ++look)
    support::expect_frequencies(counts_of(look_of(walk.visible, 3, look)), support::belief_net_probabilities(stack));
  const BeliefNetSamples once = sample_belief_net(stack, Key(8), 50, 4);
  const BeliefNetSamples more = sample_belief_net(stack, Key(8), {.chains = 50, .looks = 3, .sweeps = 4, .every = 1});
  EXPECT_TRUE(at::equal(once.visible, look_of(more.visible, 3, 0)));
}

// Weights so strong that a chain settles with all units on or all off and never leaves: every look at it shows the
// same, and chains differ (all 200 alike: one seed in 2^190).
TEST(BeliefNetSamples, OfOneChainStayWhereTheChainStays) {
  BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2", at::kDouble);
  machine.parameters()["visible_hidden.weights"].fill_(60);
  machine.parameters()["visible.bias"].fill_(-60);
  machine.parameters()["hidden.bias"].fill_(-60);
  const at::Tensor seen = sample_belief_net(MachineStack{machine}, Key(9),
                                            {.chains = 200, .looks = 3, .sweeps = 200, .every = 20, .from_noise = true})
                              .visible;
  EXPECT_TRUE(at::equal(look_of(seen, 3, 0), look_of(seen, 3, 1)));
  EXPECT_TRUE(at::equal(look_of(seen, 3, 0), look_of(seen, 3, 2)));
  EXPECT_GT(seen.std().item<double>(), 0.1);
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
