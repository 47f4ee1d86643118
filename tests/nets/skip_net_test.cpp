#include "harmonium/nets/skip_net.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

Moments drawn_skip_net(const SkipNet& net) {
  Moments parameters;
  net.declare(parameters, at::kDouble);
  net.initialize(parameters, Key(1));
  for (const auto& [name, value] : parameters.entries())
    if (name.ends_with(".bias")) at::Tensor(value).copy_(normal(Key(2), value.sizes(), at::kDouble));
  return parameters;
}

TEST(SkipNet, FeedsItsOutputFromEveryLayerAndSquaresInTheLast) {
  const SkipNet net("a.", 5, {4, 3, 6}, 2);
  const Moments p = drawn_skip_net(net);
  const at::Tensor x = normal(Key(3), {7, 5}, at::kDouble), m1 = normal(Key(4), {7, 4}, at::kDouble),
                   m2 = normal(Key(5), {7, 3}, at::kDouble), m3 = normal(Key(6), {7, 6}, at::kDouble);
  const at::Tensor h1 = (x.matmul(p["a.hidden1.weights"]) + p["a.hidden1.bias"]).sigmoid() * m1,
                   h2 = (h1.matmul(p["a.hidden2.weights"]) + p["a.hidden2.bias"]).sigmoid() * m2,
                   h3 = (h2.matmul(p["a.hidden3.weights"]) + p["a.hidden3.bias"]).square() * m3;
  const at::Tensor expected = h1.matmul(p["a.from1.weights"]) + h2.matmul(p["a.from2.weights"]) +
                              h3.matmul(p["a.from3.weights"]) + p["a.output.bias"];
  EXPECT_LT((net.forward(p, x, {m1, m2, m3}) - expected).abs().max().item<double>(), 1e-12);
  EXPECT_TRUE(
      at::equal(net.forward(p, x), net.forward(p, x, {at::ones_like(m1), at::ones_like(m2), at::ones_like(m3)})));
}

TEST(SkipNet, MayLackSkipsOrSquares) {
  const SkipNet net("a.", 5, {4, 3}, 2, 0.01, {.skips = false, .squares = false});
  const Moments p = drawn_skip_net(net);
  EXPECT_FALSE(p.contains("a.from1.weights"));
  const at::Tensor x = normal(Key(3), {7, 5}, at::kDouble);
  const at::Tensor h1 = (x.matmul(p["a.hidden1.weights"]) + p["a.hidden1.bias"]).sigmoid(),
                   h2 = (h1.matmul(p["a.hidden2.weights"]) + p["a.hidden2.bias"]).sigmoid();
  const at::Tensor expected = h2.matmul(p["a.from2.weights"]) + p["a.output.bias"];
  EXPECT_LT((net.forward(p, x) - expected).abs().max().item<double>(), 1e-12);
}

// 12 000 values, five standard errors: false alarms about 6e-7.
TEST(SkipNet, DropsTheShareThatWasAskedForAndKeepsTheMean) {
  const SkipNet net("", 2, {100, 20}, 1);
  const std::vector<at::Tensor> masks = net.dropout(Key(7), 100, 0.25, at::kDouble);
  ASSERT_EQ(masks.size(), 2U);
  const at::Tensor all = at::cat({masks[0].reshape({-1}), masks[1].reshape({-1})});
  EXPECT_TRUE(all.eq(0).logical_or(all.eq(1 / 0.75)).all().item<bool>());
  EXPECT_NEAR(all.eq(0).to(at::kDouble).mean().item<double>(), 0.25, 5 * std::sqrt(0.25 * 0.75 / 12'000));
  EXPECT_TRUE(net.dropout(Key(7), 100, 0, at::kDouble).empty());
  EXPECT_THROW((void)net.dropout(Key(7), 100, 1, at::kDouble), Error);
}

}  // namespace
}  // namespace harmonium
