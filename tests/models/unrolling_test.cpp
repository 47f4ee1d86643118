#include "harmonium/models/unrolling.h"

#include <gtest/gtest.h>

#include "harmonium/inference/mean_field.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;
using support::message_of;
using support::randomized;

// Means of one layer given another, as the machine itself says.
at::Tensor mean_given(const BoltzmannMachine& machine, std::size_t layer, std::size_t given, const at::Tensor& values) {
  State state;
  state.layers.resize(machine.layers().size());
  for (std::size_t i = 0; i < state.layers.size(); ++i)
    state.layers[i] = i == given ? values : at::zeros({values.size(0), machine.unit(i).width()}, at::kDouble);
  return machine.unit(layer).mean(machine.field(layer, state), machine.layer_parameters(layer));
}

MachineStack mixed_stack() {
  return {randomized(make_rbm("gaussian:4", "bernoulli:5", at::kDouble), 1),
          randomized(make_rbm("bernoulli:5", "bernoulli:3", at::kDouble), 2),
          randomized(make_rbm("bernoulli:3", "gaussian:2", at::kDouble), 3)};
}

TEST(Unrolling, ComputesTheMeansOfTheStackUpAndDown) {
  const MachineStack stack = mixed_stack();
  const at::Tensor data = normal(Key(4), {8, 4}, at::kDouble);
  const std::vector<at::Tensor> up = unroll_encoder(stack).activations(data);
  const std::vector<at::Tensor> both = unroll_autoencoder(stack).activations(data);
  at::Tensor values = data;
  for (std::size_t i = 0; i < 3; ++i) {
    values = mean_given(stack[i], 1, 0, values);
    support::expect_close(up[i], values, 1e-12, format("up, layer {}", i));
    support::expect_close(both[i], values, 1e-12, format("up in the autoencoder, layer {}", i));
  }
  support::expect_close(unroll_autoencoder(stack).encode(data), values, 1e-12, "code");
  for (std::size_t i = 3; i-- > 0;) {
    values = mean_given(stack[i], 0, 1, values);
    support::expect_close(both[5 - i], values, 1e-12, format("down, layer {}", i));
  }
}

TEST(Unrolling, TakesWordCountsAndGivesTheirShares) {
  const MachineStack stack = {randomized(make_rbm("counts:4", "bernoulli:3", at::kDouble), 1)};
  const at::Tensor counts = at::tensor({2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 5.0, 0.0}, at::kDouble).view({2, 4});
  FeedForward net = unroll_autoencoder(stack);
  State state = stack[0].observe({counts});
  state.layers[1] = stack[0].unit(1).mean(stack[0].field(1, state), stack[0].layer_parameters(1));
  support::expect_close(net.encode(counts), state.layers[1], 1e-12, "code");
  support::expect_close(net.forward(counts) * counts.sum(1, true),
                        stack[0].unit(0).mean(stack[0].field(0, state), stack[0].layer_parameters(0)), 1e-12, "means");
  // Of documents of that length a net of shares says the same; of shares it says the same whatever the length.
  const at::Tensor before = net.encode(counts);
  take_shares(net, 6);
  support::expect_close(net.encode(counts), before, 1e-12, "code of shares");
  support::expect_close(net.encode(7 * counts), net.encode(counts), 1e-12, "lengths");
  EXPECT_TRUE(net.encode(0 * counts).isfinite().all().item<bool>());
}

TEST(Unrolling, GivesWeightsOfTheirOwnToBothWays) {
  const MachineStack stack = {randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 1)};
  FeedForward net = unroll_autoencoder(stack);
  const at::Tensor before = stack[0].parameters()["visible_hidden.weights"].clone();
  at::Tensor(net.weights(0)).zero_();
  EXPECT_TRUE(at::equal(net.weights(1), before.t()));
  EXPECT_TRUE(at::equal(stack[0].parameters()["visible_hidden.weights"], before));
}

TEST(Unrolling, PutsASoftmaxOnTop) {
  const MachineStack stack = mixed_stack();
  const at::Tensor data = normal(Key(4), {8, 4}, at::kDouble);
  const FeedForward net = unroll_classifier(stack, 6, Key(1));
  EXPECT_EQ(net.outputs(), 6);
  EXPECT_TRUE(at::equal(net.encode(data), unroll_encoder(stack).forward(data)));
  support::expect_close(net.forward(data).sum(1), at::ones({8}, at::kDouble), 1e-12);
}

TEST(Unrolling, TakesTheLabelWeightsOfTheTopMachine) {
  const MachineStack stack = {randomized(make_classification_rbm("bernoulli:4", 3, "bernoulli:5", at::kDouble), 1)};
  const FeedForward net = unroll_classifier(stack, 3, Key(1));
  EXPECT_TRUE(at::equal(net.weights(1), stack[0].parameters()["label_hidden.weights"].t()));
  EXPECT_TRUE(at::equal(net.bias(1), stack[0].parameters()["label.bias"]));
  EXPECT_FALSE(at::equal(unroll_classifier(stack, 2, Key(1)).bias(1), net.bias(1).narrow(0, 0, 2)));
}

// Where q solves q1 = σ(b1 + vᵀW1 + q2ᵀW2ᵀ) and q2 = σ(b2 + q1ᵀW2), a net on [v, q2] has q1 in its first layer and q2
// in its second. On v alone it has neither. A label is not known, so its layer hears and says nothing.
TEST(Unrolling, BeginsWithTheMeanFieldPosteriorOfADeepMachine) {
  const std::vector<std::string> specs = {"bernoulli:6", "bernoulli:5", "bernoulli:4"};
  for (const bool labelled : {false, true}) {
    const BoltzmannMachine machine =
        randomized(labelled ? make_labelled_chain(specs, 3, at::kDouble) : make_chain(specs, at::kDouble), 5);
    const at::Tensor rows = uniform(Key(6), {9, 6}, at::kDouble);
    std::vector<at::Tensor> observed = {rows};
    if (labelled) observed.push_back(at::zeros({9, 3}, at::kDouble));
    const MeanFieldOptions exact{.most_sweeps = 10'000, .tolerance = 1e-10};
    const Posterior q = infer(machine, machine.observe(observed), exact);
    ASSERT_TRUE(q.converged(exact));
    const FeedForward net = unroll_with_posterior(machine, 3, Key(1));
    ASSERT_EQ(net.inputs(), 6 + 4);
    const std::vector<at::Tensor> values = net.activations(at::cat({rows, q.means.layers[2]}, 1));
    support::expect_close(values[0], q.means.layers[1], 1e-8, "first hidden layer");
    support::expect_close(values[1], q.means.layers[2], 1e-8, "second hidden layer");
    const std::vector<at::Tensor> alone = unroll_encoder(stack_to_unroll(machine)).activations(rows);
    EXPECT_GT((alone[0] - q.means.layers[1]).abs().max().item<double>(), 1e-3);
    if (!labelled) continue;
    EXPECT_TRUE(at::equal(net.weights(2), machine.parameters()["hidden2_label.weights"]));
    EXPECT_TRUE(at::equal(net.bias(2), machine.parameters()["label.bias"]));
  }
}

TEST(Unrolling, SaysWhosePosteriorIsNoInput) {
  const auto complaint = [](const BoltzmannMachine& machine) {
    return message_of([&] { (void)unroll_with_posterior(machine, 3, Key(1)); });
  };
  expect_mentions(complaint(make_rbm("bernoulli:4", "bernoulli:3")), {"1 hidden", "two"});
  expect_mentions(complaint(make_chain({"bernoulli:4", "bernoulli:3", "bernoulli:3", "bernoulli:2"})), {"3 hidden"});
  expect_mentions(complaint(make_chain({"bernoulli:4", "bernoulli:3", "softmax:2x3"})), {"hidden2", "softmax:2x3"});
}

TEST(Unrolling, SaysWhatIsNoStack) {
  const auto rbm = [](const std::string& v, const std::string& h) { return make_rbm(v, h, at::kDouble); };
  expect_mentions(message_of([] { require_stack({}); }), {"at least one"});
  expect_mentions(message_of([&] {
                    require_stack({rbm("bernoulli:4", "bernoulli:3"), rbm("bernoulli:2", "bernoulli:2")});
                  }),
                  {"machine 2", "bernoulli:2", "bernoulli:3"});
  expect_mentions(message_of([&] { require_stack({make_mrf("bernoulli:3")}); }), {"machine 1", "hidden"});
  expect_mentions(message_of([&] { require_stack({make_semi_restricted("bernoulli:3", "bernoulli:2")}); }),
                  {"machine 1", "inside a layer"});
  expect_mentions(
      message_of([&] {
        require_stack({make_classification_rbm("bernoulli:3", 2, "bernoulli:2"), rbm("bernoulli:2", "bernoulli:2")});
      }),
      {"machine 1", "label"});
  expect_mentions(message_of([&] { (void)unroll_encoder({rbm("bernoulli:3", "softmax:2x3")}); }),
                  {"hidden", "softmax"});
  expect_mentions(message_of([&] { (void)unroll_autoencoder(MachineStack{rbm("softmax:2x3", "bernoulli:3")}); }),
                  {"visible", "softmax"});
}

}  // namespace
}  // namespace harmonium
