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

// All layers of a dream together: p(v, h_1 | h_2), chi-square with false-alarm rate 1e-6.
TEST(BeliefNet, DreamsByItsConditionalsDownToTheData) {
  const MachineStack stack = support::small_belief_net();
  const support::Bits given = {0, 1, 1};
  const std::vector<at::Tensor> drawn = dream(stack, support::to_rows({given}).expand({30'000, 3}), Key(2));
  ASSERT_EQ(drawn.size(), 3U);
  support::Row p;
  for (const support::Bits& first : support::all_bits(3))
    for (const support::Bits& visible : support::all_bits(4))
      p.push_back(std::exp(support::log_given_hidden(stack[1], first, given) +
                           support::log_given_hidden(stack[0], visible, first)));
  const at::Tensor codes = support::codes(State{{drawn[0], drawn[1]}});
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 128).to(at::kDouble)), p);
}

TEST(BeliefNet, IsUntiedWithoutChangingAnything) {
  const MachineStack stack = support::small_belief_net(true);
  const BeliefNet tied = stack, net = untied(tied);
  EXPECT_TRUE(tied.tied);
  EXPECT_FALSE(net.tied);
  const at::Tensor data = uniform(Key(1), {5, 4}, at::kDouble);
  support::expect_close(reconstruct(net, data), reconstruct(tied, data), 1e-14);
  support::expect_close(log_label_probabilities(net, data), log_label_probabilities(tied, data), 1e-14);
  // Copies: the stack is not trained with it.
  net.down[0].parameters().entries()[0].second.zero_();
  EXPECT_FALSE(support::identical(net.down[0].parameters(), stack[0].parameters()));
  EXPECT_TRUE(support::identical(net.up[0].parameters(), stack[0].parameters()));
}

TEST(BeliefNet, HasItsParametersInOneListThatItSharesWithItsMachines) {
  const BeliefNet net = support::small_untied_net(true);
  const Moments all = parameters_of(net);
  // Three machines of visible, hidden and weights, two of them twice, and the label's bias and weights.
  EXPECT_EQ(all.entries().size(), 17U);
  EXPECT_TRUE(all["machine3/label_hidden.weights"].is_same(net.top().parameters()["label_hidden.weights"]));
  EXPECT_TRUE(all["recognition2/hidden.bias"].is_same(net.up[1].parameters()["hidden.bias"]));
  const BeliefNet other = with_parameters(net, (2.0 * all));
  EXPECT_TRUE(at::equal(other.up[0].parameters()["visible_hidden.weights"],
                        2 * net.up[0].parameters()["visible_hidden.weights"]));
  EXPECT_TRUE(support::identical(other.up[2].parameters(), other.down[2].parameters()));
  std::size_t weights = 0, biases = 0;
  for (const ParameterGroup& group : groups_of(net)) {
    (group.kind == ParameterKind::weights ? weights : biases) += group.names.size();
    for (const std::string& name : group.names)
      EXPECT_EQ(all[name].dim(), group.kind == ParameterKind::weights ? 2 : 1) << name;
  }
  EXPECT_EQ(weights, 6U);
  EXPECT_EQ(biases, 11U);
}

TEST(BeliefNet, GoesDownAgainAsAnUnrolledAutoencoderDoes) {
  const BeliefNet net = support::small_untied_net();
  const at::Tensor data = uniform(Key(1), {5, 4}, at::kDouble);
  support::expect_close(reconstruct(net, data), unroll_autoencoder(net).activations(data).back(), 1e-12);
}

TEST(BeliefNet, RefusesAWayUpOfOtherMachines) {
  const auto rbm = [](const std::string& visible, const std::string& hidden) { return make_rbm(visible, hidden); };
  support::expect_mentions(
      support::message_of([&] { (void)BeliefNet(support::small_belief_net(), {rbm("bernoulli:4", "bernoulli:3")}); }),
      {"3 machines", "has 1"});
  support::expect_mentions(
      support::message_of([&] {
        require_belief_net(
            {support::small_belief_net(), {rbm("bernoulli:4", "bernoulli:3"), rbm("bernoulli:3", "bernoulli:5")}});
      }),
      {"machine 2", "way up"});
}

}  // namespace
}  // namespace harmonium
