#include "harmonium/families/deep_machine_family.h"

#include <gtest/gtest.h>

#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

// Two modes, all units on or all off, with walls between them that a few hundred sweeps do not pass (a layer that is
// all on leaves its neighbours' units off with probability e⁻¹² or less). Chains that begin at data are where the data
// are; begun at the biases, which turn every unit off, they would be in the other mode.
TEST(ChainsOfPretrained, BeginAtData) {
  BoltzmannMachine machine = make_chain({"bernoulli:8", "bernoulli:6", "bernoulli:5"});
  Moments& theta = machine.parameters();
  theta["visible_hidden1.weights"].fill_(4);
  theta["hidden1_hidden2.weights"].fill_(4);
  theta["visible.bias"].fill_(-12);
  theta["hidden1.bias"].fill_(-26);
  theta["hidden2.bias"].fill_(-12);
  RunConfig config;
  config.model = "dbm";
  config.gradient = "pcd";
  config.particles = 50;  // more than there are rows
  const RunData data{.train = {.name = "ones", .values = at::ones({20, 8})}, .valid = {}};
  const NamedTensors chains = chains_of_pretrained(machine, config, data);
  ASSERT_EQ(chains.size(), 3u);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    EXPECT_EQ(chains[layer].first, format("particles.{}", layer));
    EXPECT_EQ(chains[layer].second.size(0), 50);
    EXPECT_GT(chains[layer].second.mean().item<double>(), 0.99) << layer;
  }
  config.gradient = "pt";
  EXPECT_TRUE(chains_of_pretrained(machine, config, data).empty());
}

RunConfig deep_config(const std::string& layers, const std::string& optimizer) {
  RunConfig config;
  config.model = "dbm";
  config.visible = "bernoulli:784";
  config.hidden = "none";
  config.layers = layers;
  config.optimizer = optimizer;
  config.pretrain = "rbm";
  return config;
}

TEST(JointRates, AreShorterTheMoreHiddenUnitsMoveTogether) {
  const Rates usual = default_rates("fang");
  const Rates small = joint_rates(deep_config("200,100", "fang")), large = joint_rates(deep_config("500,1000", "fang"));
  EXPECT_EQ(small.bias, usual.bias);
  EXPECT_EQ(small.weights, usual.weights);
  EXPECT_DOUBLE_EQ(large.bias, usual.bias / 25);
  EXPECT_DOUBLE_EQ(large.weights, usual.weights / 5);
  EXPECT_EQ(joint_rates(deep_config("500,1000", "centering")).weights, default_rates("centering").weights);
}

TEST(JointRates, DoNotSlowTheLayersByThemselves) {
  RunConfig config = deep_config("500,1000", "fang");
  config.rate_bias = 1e-4;
  config.rate_weights = 1;
  const RunConfig first = chain_stage_config(config, 0);
  EXPECT_EQ(first.rate_bias, default_rates("fang").bias);
  EXPECT_EQ(first.rate_weights, 1) << "what is asked for, where it is larger";
}

}  // namespace
}  // namespace harmonium
