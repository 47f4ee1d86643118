#include "harmonium/training/files/chain_pretraining.h"

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

}  // namespace
}  // namespace harmonium
