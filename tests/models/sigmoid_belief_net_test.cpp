#include "harmonium/models/directed/sigmoid_belief_net.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/belief_net.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::small_sbn;
using support::small_sbn_of;

std::vector<SigmoidBeliefNet> small_belief_nets() {
  constexpr LayerKind plain = LayerKind::factorial, earlier = LayerKind::autoregressive, nade = LayerKind::nade;
  return {small_sbn({3}),
          small_sbn({2, 3}, {}, 2),
          small_sbn({2, 2}, {4, 3}, 3),
          small_sbn_of(earlier, earlier, earlier, {2, 3}, {}, 4),
          small_sbn_of(nade, nade, nade, {2, 3}, {}, 5),
          small_sbn_of(plain, nade, earlier, {3}, {4}, 6),
          small_sbn_of(nade, earlier, plain, {3}, {}, 7)};
}

TEST(SigmoidBeliefNet, IsADistributionOfRowsAndRecognitionOneOfLatents) {
  for (const SigmoidBeliefNet& net : small_belief_nets()) {
    const at::Tensor rows = all_rows(3);
    EXPECT_NEAR(support::enumerated_log_p(net, net.parameters(), rows).exp().sum().item<double>(), 1, 1e-12);
    const Trace trace = support::enumerated(net, net.parameters(), rows[5], support::all_tuples(net, 1));
    at::Tensor log_q = trace.log_q.front();
    for (std::size_t l = 1; l < trace.log_q.size(); ++l) log_q = log_q + trace.log_q[l];
    EXPECT_NEAR(log_q.exp().sum().item<double>(), 1, 1e-12);
  }
}

// Written out unit by unit from the parameters, without any of the library's nets.
TEST(SigmoidBeliefNet, ScoresByItsDefinition) {
  const SigmoidBeliefNet net = small_sbn({2, 3});
  const Moments& p = net.parameters();
  const auto log_bernoulli = [](const at::Tensor& y, const at::Tensor& a) {
    const at::Tensor on = 1 / (1 + at::exp(-a));
    return (y * on.log() + (1 - y) * (1 - on).log()).sum().item<double>();
  };
  const at::Tensor x = at::tensor({1.0, 0.0, 1.0}, at::kDouble), h1 = at::tensor({0.0, 1.0}, at::kDouble),
                   h2 = at::tensor({1.0, 1.0, 0.0}, at::kDouble);
  const auto affine = [&](const std::string& net_name, const at::Tensor& input) {
    return input.matmul(p[net_name + ".layer1.weights"]) + p[net_name + ".layer1.bias"];
  };
  const Trace trace = net.score(p, x.unsqueeze(0), {h1.reshape({1, 1, 2}), h2.reshape({1, 1, 3})});
  EXPECT_NEAR(trace.log_p[0].item<double>(), log_bernoulli(x, affine("down1", h1)), 1e-12);
  EXPECT_NEAR(trace.log_p[1].item<double>(), log_bernoulli(h1, affine("down2", h2)), 1e-12);
  EXPECT_NEAR(trace.log_p[2].item<double>(), log_bernoulli(h2, p["prior.bias"]), 1e-12);
  EXPECT_NEAR(trace.log_q[0].item<double>(), log_bernoulli(h1, affine("up1", x)), 1e-12);
  EXPECT_NEAR(trace.log_q[1].item<double>(), log_bernoulli(h2, affine("up2", h1)), 1e-12);
}

// ∂ log p(x, h)/∂W = h (x − p)ᵀ.
TEST(SigmoidBeliefNet, LearnsByTheDeltaRule) {
  const SigmoidBeliefNet net = small_sbn({2});
  const Moments leaves = net.parameters().map([](const at::Tensor& value) { return value.clone().requires_grad_(); });
  const at::Tensor x = at::tensor({1.0, 0.0, 1.0}, at::kDouble), h = at::tensor({1.0, 1.0}, at::kDouble);
  net.score(leaves, x.unsqueeze(0), {h.reshape({1, 1, 2})}).log_p[0].sum().backward();
  const at::Tensor on =
      (h.matmul(net.parameters()["down1.layer1.weights"]) + net.parameters()["down1.layer1.bias"]).sigmoid();
  expect_close(leaves["down1.layer1.weights"].grad(), at::outer(h, x - on), 1e-12);
}

TEST(SigmoidBeliefNet, DreamsItsOwnLaw) {
  for (const SigmoidBeliefNet& net : small_belief_nets()) {
    const Dream made = net.dream(net.parameters(), 20000, Key(5));
    const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(3, at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 8)),
                                support::numbers(support::enumerated_log_p(net, net.parameters(), all_rows(3)).exp()));
  }
}

TEST(SigmoidBeliefNet, DrawsFromItsRecognitionAndNumbersItsDraws) {
  constexpr LayerKind earlier = LayerKind::autoregressive, nade = LayerKind::nade;
  for (const SigmoidBeliefNet& net : {small_sbn({2, 2}, {3}), small_sbn_of(nade, earlier, earlier, {2, 2}, {3}, 2),
                                      small_sbn_of(LayerKind::factorial, nade, LayerKind::factorial, {2, 2}, {}, 3)}) {
    constexpr std::int64_t draws = 20000;
    const at::Tensor row = at::tensor({1.0, 0.0, 1.0}, at::kDouble);
    const Trace trace = net.infer(net.parameters(), row.unsqueeze(0), draws, Key(6));
    const at::Tensor both = at::cat({trace.latents[0][0], trace.latents[1][0]}, 1).to(at::kLong);
    const at::Tensor codes = (both * at::pow(2, at::arange(4, at::kLong))).sum(1);
    const Trace every = support::enumerated(net, net.parameters(), row, support::all_tuples(net, 1));
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)),
                                support::numbers((every.log_q[0] + every.log_q[1]).squeeze(1).exp()));
    const Trace piece = net.infer(net.parameters(), row.unsqueeze(0), 5, Key(6), 7);
    EXPECT_TRUE(at::equal(piece.latents[1], trace.latents[1].narrow(1, 7, 5)));
  }
}

// Means of a dream are those by which its data were drawn: E[visible − means] = 0 given all that came before.
TEST(SigmoidBeliefNet, DreamsDataByTheMeansThatItShows) {
  constexpr std::int64_t count = 20000;
  for (const SigmoidBeliefNet& net : small_belief_nets()) {
    const Dream made = net.dream(net.parameters(), count, Key(8));
    const at::Tensor left = made.visible - made.means, variance = made.means * (1 - made.means);
    const at::Tensor scaled = left.sum(0) / variance.sum(0).sqrt();
    EXPECT_LT(scaled.abs().max().item<double>(), support::allowed_deviations);
  }
}

TEST(SigmoidBeliefNet, BeginsAtTheMeansOfTheDataWhateverItsLayers) {
  SigmoidBeliefNet net({.visible = "bernoulli:3",
                        .latent = {4, 2},
                        .generation = LayerKind::nade,
                        .recognition = LayerKind::nade,
                        .prior = LayerKind::nade,
                        .nade_hidden = 5},
                       at::kDouble);
  initialize(net, Key(1), at::tensor({0.5, 0.25, 0.9}, at::kDouble));
  const Moments& p = net.parameters();
  expect_close(p["down1.layer1.bias"].narrow(0, 0, 3).sigmoid(), at::tensor({0.5, 0.25, 0.9}, at::kDouble), 1e-12);
  for (const char* name : {"down2.layer1.bias", "up1.layer1.bias"}) {
    EXPECT_TRUE(p[name].narrow(0, 0, 4).eq(-1).all().item<bool>()) << name;
    EXPECT_TRUE(p[name].narrow(0, 4, 5).eq(0).all().item<bool>()) << name;
  }
  EXPECT_EQ(p["prior.bias"].size(0), 7);
  EXPECT_GT(p["prior.nade.decoder.weights"].abs().max().item<double>(), 0);
  EXPECT_FALSE(at::equal(p["down2.nade.encoder.weights"], p["up1.nade.encoder.weights"]));
}

TEST(SigmoidBeliefNet, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { SigmoidBeliefNet({.visible = "bernoulli:3", .latent = {}}); }),
                  {"at least one layer"});
  expect_mentions(
      message_of([] { SigmoidBeliefNet({.visible = "gaussian:3:0.1", .latent = {2}, .generation = LayerKind::nade}); }),
      {"nade", "bits", "gaussian"});
  expect_mentions(
      message_of([] {
        SigmoidBeliefNet(
            {.visible = "bernoulli:3", .latent = {2}, .prior_hidden = 2, .prior = LayerKind::autoregressive});
      }),
      {"RBM", "autoregressive"});
  const SigmoidBeliefNet net = small_sbn({2});
  expect_mentions(message_of([&] {
                    (void)net.infer(net.parameters(), at::zeros({2, 3}, at::kDouble), 0, Key(1));
                  }),
                  {"0"});
  expect_mentions(message_of([&] {
                    (void)net.score(net.parameters(), at::zeros({2, 3}, at::kDouble), {});
                  }),
                  {"1", "0"});
}

}  // namespace
}  // namespace harmonium
