// A deep machine put together from RBMs, by the equalities that define it.
#include "harmonium/models/pretrained_chain.h"

#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/builders.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

// RBMs of a chain of the given widths, with parameters of their own.
std::vector<BoltzmannMachine> random_rbms(const std::vector<std::string>& chain) {
  std::vector<BoltzmannMachine> rbms;
  for (const auto& [lower, upper] : pretraining_rbms(chain))
    rbms.push_back(support::randomized(make_rbm(lower, upper, at::kDouble), 50 + rbms.size()));
  return rbms;
}

class PretrainedChain : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  [[nodiscard]] at::Tensor rbm_field(std::size_t rbm, std::size_t layer, const at::Tensor& other) const {
    State state;
    state.layers.resize(2);
    state.layers[1 - layer] = other;
    return rbms_[rbm].field(layer, state);
  }

  const std::vector<BoltzmannMachine> rbms_ = random_rbms(GetParam());
  const BoltzmannMachine machine_ = compose_chain(rbms_);
  const State state_ = machine_.independent_sample(Key(7), 20);
};

TEST_P(PretrainedChain, HasTheLayersItWasAskedFor) {
  ASSERT_EQ(machine_.layers().size(), GetParam().size());
  for (std::size_t layer = 0; layer < GetParam().size(); ++layer)
    EXPECT_EQ(machine_.unit(layer).spec(), GetParam()[layer]);
  EXPECT_EQ(machine_.observed(), LayerSet{0});
}

TEST_P(PretrainedChain, GivesAHiddenLayerTheMeanOfItsFieldsBelowAndAbove) {
  for (std::size_t layer = 1; layer + 1 < GetParam().size(); ++layer) {
    const at::Tensor below = rbm_field(layer - 1, 1, state_.layers[layer - 1]),
                     above = rbm_field(layer, 0, state_.layers[layer + 1]);
    expect_close(machine_.field(layer, state_), 0.5 * (below + above), 1e-12);
  }
}

TEST_P(PretrainedChain, GivesTheEndsWhatOneOfTwoCopiesSees) {
  const std::size_t top = GetParam().size() - 1;
  // A copy of a twin is on with probability σ(field / 2), which is the twin's mean.
  const auto mean = [&](std::size_t layer) {
    return machine_.unit(layer).mean(machine_.field(layer, state_), machine_.layer_parameters(layer));
  };
  expect_close(mean(0), rbms_.front().unit(0).mean(rbm_field(0, 0, state_.layers[1]), {}), 1e-12);
  expect_close(mean(top), rbms_.back().unit(1).mean(rbm_field(top - 1, 1, state_.layers[top - 1]), {}), 1e-12);
}

// The first hidden layer of the bottom RBM hears the data twice. If the layer above says of it what the data say, the
// machine says so as well: nothing changes where bottom-up and top-down agree.
TEST_P(PretrainedChain, SaysWhatTheBottomRbmSaidWhereTheLayerAboveAgrees) {
  std::vector<BoltzmannMachine> agreeing = rbms_;
  const at::Tensor v = state_.layers[0].narrow(0, 0, 1), h2 = state_.layers[2].narrow(0, 0, 1);
  const at::Tensor wanted = rbm_field(0, 1, v), said = rbm_field(1, 0, h2);
  agreeing[1] = agreeing[1].to(at::kDouble);
  agreeing[1].parameters()["visible.bias"].add_((wanted - said).squeeze(0));
  State state;
  state.layers.resize(GetParam().size());
  state.layers[0] = v;
  state.layers[2] = h2;
  expect_close(compose_chain(agreeing).field(1, state), wanted, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Chains, PretrainedChain,
                         testing::Values(std::vector<std::string>{"bernoulli:4", "bernoulli:3", "bernoulli:5"},
                                         std::vector<std::string>{"bernoulli:3", "bernoulli:4", "bernoulli:2",
                                                                  "bernoulli:3"}),
                         [](const auto& one) { return "OfLayers" + std::to_string(one.param.size()); });

// An RBM of twins is one whose lower layer stands there twice, with the same biases and weights.
TEST(RbmOfTwins, IsARbmWithTwoTiedCopiesOfItsLowerLayer) {
  const BoltzmannMachine twins = support::randomized(make_rbm("twin:4", "bernoulli:3", at::kDouble), 58);
  BoltzmannMachine copies({{"one", make_unit("bernoulli:4"), true},
                           {"other", make_unit("bernoulli:4"), true},
                           {"hidden", make_unit("bernoulli:3")}},
                          {{"one", "hidden"}, {"other", "hidden"}}, at::kDouble);
  for (const std::string copy : {"one", "other"}) {
    copies.parameters()[copy + ".bias"].copy_(twins.parameters()["visible.bias"] / 2);
    copies.parameters()[copy + "_hidden.weights"].copy_(twins.parameters()["visible_hidden.weights"] / 2);
  }
  copies.parameters()["hidden.bias"].copy_(twins.parameters()["hidden.bias"]);
  EXPECT_NEAR(exact_log_z(twins).value, exact_log_z(copies).value, 1e-12);
  const Moments one = exact_moments(twins), other = exact_moments(copies);
  expect_close(one["hidden.bias"], other["hidden.bias"], 1e-12);
  expect_close(one["visible.bias"], other["one.bias"], 1e-12);
  expect_close(one["visible_hidden.weights"], other["other_hidden.weights"], 1e-12);
  // Both copies at the data, f is the same.
  const at::Tensor v = (uniform(Key(59), {8, 4}, at::kDouble) < 0.5).to(at::kDouble);
  expect_close(twins.log_sum_out(twins.observe({v}), {1}), copies.log_sum_out(copies.observe({v, v}), {2}), 1e-12);
}

TEST(PretrainingRbms, HaveTwinsAtTheEndsOnly) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(pretraining_rbms({"bernoulli:9", "bernoulli:5", "bernoulli:3"}),
            (Pairs{{"twin:9", "bernoulli:5"}, {"bernoulli:5", "twin:3"}}));
  EXPECT_EQ(pretraining_rbms({"bernoulli:9", "bernoulli:5", "bernoulli:4", "bernoulli:3"}),
            (Pairs{{"twin:9", "bernoulli:5"}, {"bernoulli:5", "bernoulli:4"}, {"bernoulli:4", "twin:3"}}));
}

TEST(PretrainingRbms, RefuseWhatTheyCannotBe) {
  const auto message = [](const std::vector<std::string>& chain) {
    return support::message_of([&] { (void)pretraining_rbms(chain); });
  };
  support::expect_mentions(message({"bernoulli:3", "bernoulli:2"}), {"two hidden layers"});
  support::expect_mentions(message({"bernoulli:3", "bernoulli:2", "softmax:1x3"}), {"softmax:1x3", "binary"});
  std::vector<BoltzmannMachine> rbms = random_rbms({"bernoulli:4", "bernoulli:3", "bernoulli:5"});
  const auto composed = [&] { return support::message_of([&] { (void)compose_chain(rbms); }); };
  rbms[1] = make_rbm("bernoulli:4", "twin:5", at::kDouble);
  support::expect_mentions(composed(), {"3", "4"});
  rbms[1] = make_rbm("bernoulli:3", "bernoulli:5", at::kDouble);
  support::expect_mentions(composed(), {"RBM 2", "twin:5"});
  rbms.pop_back();
  support::expect_mentions(composed(), {"two RBMs", "1"});
}

}  // namespace
}  // namespace harmonium
