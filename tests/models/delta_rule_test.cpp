// Learning in sigmoid belief nets without an inference net: the delta rule, and what expectation maximization promises.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::small_sbn;

Moments leaves_of(const SigmoidBeliefNet& net) {
  return net.parameters().map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
}

at::Tensor joint_of(const Trace& trace) {
  at::Tensor joint = trace.log_p[0];
  for (std::size_t l = 1; l < trace.log_p.size(); ++l) joint = joint + trace.log_p[l];
  return joint;
}

TEST(DeltaRule, IsTheGradientOfTheJointProbability) {
  const SigmoidBeliefNet net = small_sbn({3, 2}, {}, 4);
  const at::Tensor x = at::tensor({1.0, 0.0, 1.0}, at::kDouble), h1 = at::tensor({0.0, 1.0, 1.0}, at::kDouble),
                   h2 = at::tensor({1.0, 0.0}, at::kDouble);
  const Moments leaves = leaves_of(net);
  joint_of(net.score(leaves, x.unsqueeze(0), {h1.view({1, 1, 3}), h2.view({1, 1, 2})})).sum().backward();
  const Moments& theta = net.parameters();
  // What a unit is less what it was expected to be, given those above.
  const at::Tensor miss1 = x - (h1.matmul(theta["down1.layer1.weights"]) + theta["down1.layer1.bias"]).sigmoid(),
                   miss2 = h1 - (h2.matmul(theta["down2.layer1.weights"]) + theta["down2.layer1.bias"]).sigmoid(),
                   miss3 = h2 - theta["prior.bias"].sigmoid();
  const auto expect_same = [&](const char* name, const at::Tensor& rule) {
    EXPECT_LT((leaves[name].grad() - rule).abs().max().item<double>(), 1e-12) << name;
  };
  expect_same("down1.layer1.weights", at::outer(h1, miss1));
  expect_same("down1.layer1.bias", miss1);
  expect_same("down2.layer1.weights", at::outer(h2, miss2));
  expect_same("down2.layer1.bias", miss2);
  expect_same("prior.bias", miss3);
}

// Six latents, posteriors by enumeration, and for each of them the delta rule until the expected joint probability no
// longer rises.
TEST(DeltaRule, NeverLowersTheLikelihoodWhereItIsTheMStepOfExactEm) {
  SigmoidBeliefNet net = small_sbn({4, 2}, {}, 6);
  const at::Tensor rows = all_rows(3).index_select(0, at::tensor({0, 1, 1, 6, 7, 7, 7}, at::kLong));
  const std::vector<at::Tensor> states = support::all_tuples(net, 1);
  const auto joints = [&](const Moments& parameters) {
    std::vector<at::Tensor> each;
    for (std::int64_t row = 0; row < rows.size(0); ++row)
      each.push_back(joint_of(support::enumerated(net, parameters, rows[row], states)).squeeze(1));
    return at::stack(each);
  };
  const auto likelihood = [&] { return at::logsumexp(joints(net.parameters()), 1).sum().item<double>(); };
  const double begun = likelihood();
  double before = begun;
  for (int round = 0; round < 4; ++round) {
    const at::Tensor posterior = joints(net.parameters()).softmax(1);
    double expected = (posterior * joints(net.parameters())).sum().item<double>(), rate = 0.5;
    for (int step = 0; step < 100 && rate > 1e-6; ++step) {
      const Moments leaves = leaves_of(net);
      (posterior * joints(leaves)).sum().backward();
      Moments moved = net.parameters().clone();
      for (const auto& [name, leaf] : leaves.entries())
        if (leaf.grad().defined()) moved[name].add_(leaf.grad(), rate);
      const double then = (posterior * joints(moved)).sum().item<double>();
      if (then > expected) {
        net.parameters().copy_(moved);
        expected = then;
        rate *= 1.2;
      } else {
        rate /= 2;
      }
    }
    const double now = likelihood();
    EXPECT_GE(now, before - 1e-10) << "round " << round;
    before = now;
  }
  EXPECT_GT(before, begun + 1) << "it must have learnt something for the claim to say anything";
}

}  // namespace
}  // namespace harmonium
