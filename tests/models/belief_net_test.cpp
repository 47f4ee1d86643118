#include "harmonium/models/belief_net.h"

#include <gtest/gtest.h>

#include "harmonium/models/unrolling.h"
#include "tests/support/belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

TEST(BeliefNet, HasMeansUpTheStackAsANetComputesThem) {
  for (const bool labelled : {false, true}) {
    const MachineStack stack = support::small_belief_net(labelled);
    const at::Tensor data = uniform(Key(1), {5, 4}, at::kDouble);
    const std::vector<at::Tensor> means = up_means(stack, data), values = unroll_encoder(stack).activations(data);
    ASSERT_EQ(means.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) support::expect_close(means[i], values[i], 1e-12);
  }
}

// Parameter by parameter; the two are different models.
TEST(BeliefNet, TakesAChainForAStackOfRbms) {
  const BoltzmannMachine chain =
      support::randomized(make_chain({"bernoulli:4", "bernoulli:3", "gaussian:2"}, at::kDouble), 5);
  const MachineStack stack = stack_of_chain(chain);
  ASSERT_EQ(stack.size(), 2U);
  require_stack(stack);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(at::equal(stack[i].parameters()["visible_hidden.weights"],
                          chain.parameters()[chain.topology().edges[i].weights]));
    for (const std::size_t side : {0U, 1U})
      for (std::size_t k = 0; k < chain.layer_parameters(i + side).size(); ++k)
        EXPECT_TRUE(at::equal(stack[i].layer_parameters(side)[k], chain.layer_parameters(i + side)[k]));
  }
  // One edge: the very machine.
  const BoltzmannMachine rbm = support::small_belief_net()[0];
  EXPECT_TRUE(support::identical(stack_of_chain(rbm)[0].parameters(), rbm.parameters()));
  for (const BoltzmannMachine& other : {make_mrf("bernoulli:3"), make_semi_restricted("bernoulli:3", "bernoulli:2"),
                                        make_classification_rbm("bernoulli:3", 2, "bernoulli:2")})
    support::expect_mentions(support::message_of([&] { (void)stack_of_chain(other); }), {"no chain"});
}

// Joint frequencies of (h_1, h_2) given v, chi-square with false-alarm rate 1e-6.
TEST(BeliefNet, DrawsTheWayUpFromItsConditionals) {
  const MachineStack stack = support::small_belief_net();
  const support::Bits visible = {1, 0, 1, 1};
  const std::vector<at::Tensor> drawn = up_sample(stack, support::to_rows({visible}).expand({30'000, 4}), Key(2));
  ASSERT_EQ(drawn.size(), 2U);
  const auto conditional = [](const BoltzmannMachine& machine, const support::Bits& given) {
    std::vector<double> p;
    double total = 0;
    for (const support::Bits& h : support::all_bits(support::hidden_width(machine))) {
      p.push_back(support::weight_of(machine, given, h));
      total += p.back();
    }
    for (double& each : p) each /= total;
    return p;
  };
  const std::vector<double> first = conditional(stack[0], visible);
  support::Row expected(64);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::vector<double> second = conditional(stack[1], support::all_bits(3)[i]);
    for (std::size_t j = 0; j < 8; ++j) expected[i + 8 * j] = first[i] * second[j];
  }
  const at::Tensor counts = at::bincount(support::codes(State{{drawn[0], drawn[1]}}), {}, 64);
  support::expect_frequencies(support::numbers(counts.to(at::kDouble)), expected);
}

}  // namespace
}  // namespace harmonium
