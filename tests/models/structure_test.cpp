// What a machine is made of, how copies share parameters, and what it says about wrong input.
#include <gtest/gtest.h>

#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/builders.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::expect_mentions;
using support::message_of;

std::vector<std::string> names_of(const Moments& moments) {
  std::vector<std::string> names;
  for (const auto& [name, value] : moments.entries()) names.push_back(name);
  return names;
}

TEST(Rbm, HasTwoBlocksAndThreeParameters) {
  const BoltzmannMachine machine = make_rbm("bernoulli:5", "bernoulli:3");
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0}, {1}}));
  EXPECT_EQ(names_of(machine.parameters()),
            (std::vector<std::string>{"visible.bias", "hidden.bias", "visible_hidden.weights"}));
  EXPECT_EQ(machine.parameters()["visible_hidden.weights"].sizes(), at::IntArrayRef({5, 3}));
  EXPECT_EQ(machine.observed(), LayerSet{0});
  EXPECT_EQ(machine.hidden(), LayerSet{1});
  EXPECT_EQ(machine.scalar_type(), at::kFloat);
}

TEST(Rbm, WithGaussianUnitsHasTheirPrecisions) {
  const BoltzmannMachine machine = make_rbm("gaussian:5", "bernoulli:3", at::kDouble);
  EXPECT_TRUE(at::equal(machine.parameters()["visible.precision"], at::ones({5}, at::kDouble)));
  EXPECT_EQ(machine.topology().layers[0].parameters, (std::vector<std::string>{"visible.bias", "visible.precision"}));
}

TEST(ClassificationRbm, KeepsDataAndLabelInOneBlock) {
  const BoltzmannMachine machine = make_classification_rbm("bernoulli:5", 10, "bernoulli:3");
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0, 1}, {2}}));
  EXPECT_EQ(machine.observed(), (LayerSet{0, 1}));
  EXPECT_EQ(machine.hidden(), LayerSet{2});
  EXPECT_EQ(machine.unit(1).spec(), "softmax:1x10");
  EXPECT_EQ(machine.parameters()["label_hidden.weights"].sizes(), at::IntArrayRef({10, 3}));
}

TEST(Chain, HasItsEvenAndOddLayersAsBlocks) {
  const BoltzmannMachine machine = make_chain({"bernoulli:5", "bernoulli:4", "bernoulli:3", "bernoulli:2"});
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0, 2}, {1, 3}}));
  EXPECT_EQ(machine.observed(), LayerSet{0});
  EXPECT_EQ(machine.layer_index("hidden3"), 3U);
  EXPECT_TRUE(machine.parameters().contains("hidden1_hidden2.weights"));
  EXPECT_THROW(static_cast<void>(make_chain({"bernoulli:5"})), Error);
  const BoltzmannMachine labelled = make_labelled_chain({"bernoulli:5", "bernoulli:4", "bernoulli:3"}, 10);
  EXPECT_EQ(labelled.observed(), (LayerSet{0, 3}));
  EXPECT_EQ(labelled.unit(3).spec(), "softmax:1x10");
  EXPECT_TRUE(labelled.parameters().contains("hidden2_label.weights"));
  EXPECT_EQ(labelled.parameters().entries().size(), 7U);
}

TEST(BoltzmannMachine, FindsTwoBlocksOfAChainWhateverTheOrderOfItsLayers) {
  // The path a – c – d – b: taken in the order of the list, a and b would share a block and leave none for d.
  const auto layer = [](const char* name) { return Layer{name, make_unit("bernoulli:2")}; };
  const BoltzmannMachine machine({layer("a"), layer("b"), layer("c"), layer("d")},
                                 {{"a", "c"}, {"c", "d"}, {"d", "b"}});
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0, 3}, {1, 2}}));
}

TEST(BoltzmannMachine, PutsLayersOfATriangleInThreeBlocks) {
  const BoltzmannMachine machine(
      {{"a", make_unit("bernoulli:1")}, {"b", make_unit("bernoulli:1")}, {"c", make_unit("bernoulli:1")}},
      {{"a", "b"}, {"b", "c"}, {"a", "c"}});
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0}, {1}, {2}}));
}

TEST(Mrf, IsOneBlockOfPairs) {
  const BoltzmannMachine machine = make_mrf("softmax:2x2");
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0}}));
  EXPECT_TRUE(machine.hidden().empty());
  ASSERT_NE(machine.inner_edge(0), nullptr);
  const at::Tensor pairs = at::tensor({0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, at::kFloat).reshape({4, 4});
  EXPECT_TRUE(at::equal(machine.inner_edge(0)->pairs, pairs)) << "values of one group are no pair";
  EXPECT_TRUE(machine.without_inner_edges({0}).empty());
}

TEST(Mrf, StartsWithPairsOnly) {
  BoltzmannMachine machine = make_mrf("bernoulli:6");
  initialize(machine, Key(1), 0.5);
  const at::Tensor weights = machine.parameters()["visible_visible.weights"];
  EXPECT_TRUE(at::equal(weights, weights.triu(1)));
  EXPECT_EQ(weights.count_nonzero().item<std::int64_t>(), 15);
  EXPECT_TRUE(at::equal(machine.couplings(0), weights + weights.t()));
}

TEST(SemiRestricted, KeepsItsVisibleLayerFromBeingSummedOut) {
  const BoltzmannMachine machine = make_semi_restricted("bernoulli:3", "bernoulli:2", at::kDouble);
  EXPECT_EQ(machine.blocks(), (std::vector<LayerSet>{{0}, {1}}));
  const State state = machine.independent_sample(Key(1), 2);
  expect_mentions(message_of([&] { static_cast<void>(machine.log_sum_out(state, {0})); }), {"visible_visible.weights"});
}

TEST(BoltzmannMachine, RefusesMachinesThatMakeNoSense) {
  const auto unit = make_unit("bernoulli:2");
  expect_mentions(message_of([&] { BoltzmannMachine({}, {}); }), {"at least one layer"});
  expect_mentions(message_of([&] { BoltzmannMachine({{"a", unit}, {"b", unit}}, {{"a", "c"}}); }), {"'c'"});
  const auto real = make_unit("gaussian:2");
  expect_mentions(message_of([&] { BoltzmannMachine({{"a", real}}, {{"a", "a"}}); }), {"'a'", "itself", "gaussian:2"});
  expect_mentions(message_of([&] { BoltzmannMachine({{"a", unit}, {"a", unit}}, {}); }), {"a.bias"});
  expect_mentions(message_of([&] {
                    BoltzmannMachine({{"a", unit}, {"b", unit}}, {{"a", "b"}, {"a", "b"}});
                  }),
                  {"a_b.weights"});
}

TEST(BoltzmannMachine, NamesALayerItDoesNotHave) {
  expect_mentions(message_of([] { static_cast<void>(make_rbm("bernoulli:2", "bernoulli:2").layer_index("label")); }),
                  {"label"});
}

TEST(BoltzmannMachine, RefusesDataOfTheWrongWidth) {
  const BoltzmannMachine machine = make_rbm("bernoulli:5", "bernoulli:3");
  expect_mentions(message_of([&] { static_cast<void>(machine.observe({at::zeros({7, 4})})); }), {"visible", "4", "5"});
  EXPECT_THROW(static_cast<void>(machine.observe({at::zeros({5})})), Error);
  EXPECT_THROW(static_cast<void>(machine.observe({})), Error);
  EXPECT_THROW(static_cast<void>(machine.observe({at::zeros({7, 5}), at::zeros({7, 3})})), Error);
}

TEST(BoltzmannMachine, RefusesObservedLayersWithDifferentNumbersOfRows) {
  const BoltzmannMachine machine = make_classification_rbm("bernoulli:5", 3, "bernoulli:3");
  expect_mentions(message_of([&] {
                    static_cast<void>(machine.observe({at::zeros({7, 5}), at::zeros({6, 3})}));
                  }),
                  {"label", "6", "7"});
}

TEST(BoltzmannMachine, RefusesToSumOutLayersThatAreJoined) {
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2");
  State state;
  state.layers = {at::zeros({1, 2}), at::zeros({1, 2})};
  expect_mentions(message_of([&] { static_cast<void>(machine.log_sum_out(state, {0, 1})); }), {"visible_hidden"});
  expect_mentions(message_of([&] {
                    static_cast<void>(machine.moments(state, machine.fields({0, 1}, state)));
                  }),
                  {"visible_hidden"});
}

TEST(BoltzmannMachine, SharesTheParametersItIsGiven) {
  BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2");
  Moments other = machine.parameters().clone();
  const BoltzmannMachine twin = machine.with_parameters(other);
  other["hidden.bias"].fill_(3);
  EXPECT_EQ(twin.parameters()["hidden.bias"].sum().item<float>(), 6);
  EXPECT_EQ(machine.parameters()["hidden.bias"].sum().item<float>(), 0);
}

TEST(BoltzmannMachine, ConvertedToATypeOwnsItsParameters) {
  const BoltzmannMachine machine = make_rbm("bernoulli:2", "bernoulli:2", at::kDouble);
  for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
    BoltzmannMachine copy = machine.to(type);
    EXPECT_EQ(copy.scalar_type(), type);
    copy.parameters()["visible.bias"].fill_(1);
    EXPECT_EQ(machine.parameters()["visible.bias"].sum().item<double>(), 0);
  }
}

TEST(BoltzmannMachine, ConstrainReachesTheParametersThemselves) {
  BoltzmannMachine machine = make_rbm("gaussian:2", "bernoulli:2", at::kDouble);
  machine.parameters()["visible.precision"].fill_(-1);
  machine.parameters()["visible_hidden.weights"].fill_(-1);
  machine.constrain_();
  EXPECT_GT(machine.parameters()["visible.precision"].min().item<double>(), 0);
  EXPECT_EQ(machine.parameters()["visible_hidden.weights"].max().item<double>(), -1);
}

TEST(BoltzmannMachine, ALayerWithoutEdgesHasItsBiasAsField) {
  const auto unit = make_unit("bernoulli:2");
  BoltzmannMachine machine({{"a", unit}, {"b", unit}, {"lonely", unit}}, {{"a", "b"}}, at::kDouble);
  machine.parameters()["lonely.bias"].fill_(0.5);
  State state;
  state.layers = {at::ones({3, 2}, at::kDouble), at::ones({3, 2}, at::kDouble), {}};
  EXPECT_TRUE(at::equal(machine.field(2, state), at::full({3, 2}, 0.5, at::kDouble)));
  EXPECT_TRUE(at::equal(machine.input(2, state), at::zeros({3, 2}, at::kDouble)));
}

// Comparisons at 5.5 standard errors of 20 000 draws: false-alarm rate 4e-8 each.
TEST(BoltzmannMachine, IndependentSampleFollowsTheBiasesAndIgnoresTheWeights) {
  BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 11, 1.0);
  constexpr std::int64_t rows = 20'000;
  const State state = machine.independent_sample(Key(3), rows);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const at::Tensor p = at::sigmoid(machine.layer_parameters(layer)[0]);
    const at::Tensor deviations = (state.layers[layer].mean(0) - p).abs() / (p * (1 - p) / rows).sqrt();
    EXPECT_TRUE(deviations.lt(5.5).all().item<bool>()) << deviations;
  }
  const at::Tensor covariance =
      (state.layers[0] - state.layers[0].mean(0)).t().mm(state.layers[1] - state.layers[1].mean(0)) / rows;
  EXPECT_LT(covariance.abs().max().item<double>(), 5.5 * 0.25 / std::sqrt(rows));
}

}  // namespace
}  // namespace harmonium
