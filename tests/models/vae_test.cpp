#include "harmonium/models/directed/vae.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/linear_vae.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::quadrature_log_p;
using support::small_vae;

TEST(Vae, GivesAllRowsTogetherProbabilityOne) {
  for (const std::int64_t latent : {1, 2}) {
    const Vae vae = small_vae(latent);
    const at::Tensor rows = all_rows(4);
    EXPECT_NEAR(quadrature_log_p(vae, rows).exp().sum().item<double>(), 1, 1e-11);
    // The model's own numbers at the nodes are those of the formula, and q integrates to one for every row.
    const support::Grid nodes = support::grid(latent);
    const Trace trace = vae.score(vae.parameters(), rows, {nodes.points.expand({16, -1, -1})});
    expect_close(trace.log_p[0] + trace.log_p[1], support::log_joint(vae, rows, nodes.points), 1e-11);
    const at::Tensor total = at::logsumexp(trace.log_q[0], 1) + nodes.log_volume;
    expect_close(total, at::zeros({16}, at::kDouble), 1e-8);
  }
}

// E_q w = p(x) row by row, which holds inference, prior and decoder to the same integral. 16 comparisons a model at 5.5
// standard errors: false alarms 1e-6.
TEST(Vae, HasWeightsWithTheProbabilityOfARowAsTheirMean) {
  for (const std::int64_t latent : {1, 2}) {
    const Vae vae = small_vae(latent);
    const Trace trace = vae.infer(vae.parameters(), all_rows(4), 4000, Key(2));
    EXPECT_EQ(trace.log_weights().scalar_type(), at::kDouble);
    support::expect_mean(trace.log_weights().exp().t(), quadrature_log_p(vae, all_rows(4)).exp());
  }
}

TEST(Vae, DrawsLatentsFromItsPosterior) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4);
  const Vae::Posterior posterior = vae.encode(rows);
  const at::Tensor drawn = vae.infer(vae.parameters(), rows, 4000, Key(3)).latents[0].transpose(0, 1);
  support::expect_mean(drawn, posterior.means);
  support::expect_mean((drawn - posterior.means).square(), (2 * posterior.log_deviations).exp());
}

TEST(Vae, NumbersItsDraws) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4);
  const auto infer = [&](std::int64_t draws, std::int64_t first) {
    return vae.infer(vae.parameters(), rows, draws, Key(4), first);
  };
  const Trace all = infer(5, 0);
  EXPECT_TRUE(at::equal(all.latents[0], infer(5, 0).latents[0])) << "same key, same draws";
  EXPECT_TRUE(at::equal(all.latents[0], at::cat({infer(2, 0).latents[0], infer(3, 2).latents[0]}, 1)));
  expect_close(all.log_weights(), at::cat({infer(2, 0).log_weights(), infer(3, 2).log_weights()}, 1), 1e-13);
  expect_close(vae.score(vae.parameters(), rows, all.latents).log_weights(), all.log_weights(), 1e-14);
  EXPECT_FALSE(at::equal(all.latents[0].select(1, 0), all.latents[0].select(1, 1)));
}

TEST(Vae, EncodesAndDecodesAsItsHeaderSays) {
  const Vae vae = small_vae(2);
  const Moments& p = vae.parameters();
  const at::Tensor rows = all_rows(4);
  const at::Tensor up = at::tanh(rows.matmul(p["encoder.layer1.weights"]) + p["encoder.layer1.bias"]);
  const at::Tensor raw = up.matmul(p["encoder.layer2.weights"]) + p["encoder.layer2.bias"];
  const Vae::Posterior posterior = vae.encode(rows);
  expect_close(posterior.means, raw.narrow(1, 0, 2), 1e-14);
  expect_close(posterior.log_deviations, raw.narrow(1, 2, 2), 1e-14);
  const at::Tensor down = at::tanh(raw.narrow(1, 0, 2).matmul(p["decoder.layer1.weights"]) + p["decoder.layer1.bias"]);
  const at::Tensor logits = down.matmul(p["decoder.layer2.weights"]) + p["decoder.layer2.bias"];
  expect_close(vae.decode(posterior.means), logits.sigmoid(), 1e-14);
  EXPECT_TRUE(at::equal(vae.reconstruct(rows), vae.decode(posterior.means)));
  EXPECT_EQ(p.entries().front().first, "encoder.layer1.weights");
  EXPECT_FALSE(p.contains("visible.shared"));
}

TEST(Vae, SamplesFromWhatItAssignsProbabilityTo) {
  const Vae vae = small_vae(2);
  const Dream made = vae.sample(Key(5), 50000);
  EXPECT_TRUE(at::equal(made.means, vae.decode(made.latents[0])));
  support::expect_mean(made.visible - made.means, at::zeros({4}, at::kDouble));
  support::expect_mean(made.latents[0].square(), at::ones({2}, at::kDouble));
  const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)),
                              support::numbers(quadrature_log_p(vae, all_rows(4)).exp()));
  EXPECT_TRUE(at::equal(vae.sample(Key(5), 50000).visible, made.visible)) << "same key";
  // Latents come with the rows that they made: E[x z] = E[E[x | z] z].
  support::expect_mean((made.visible - made.means).unsqueeze(2) * made.latents[0].unsqueeze(1),
                       at::zeros({4, 2}, at::kDouble));
}

// With q = p(z | x) every weight is p(x) itself, whatever was drawn: probabilistic PCA, log N(x; b, W Wᵀ + σ² I).
TEST(Vae, IsExactWhereItsEncoderIsThePosterior) {
  for (const bool shared : {true, false}) {
    const support::LinearVae linear = support::linear_vae(shared);
    const Vae& vae = linear.vae;
    EXPECT_EQ(vae.parameters().contains("visible.shared"), shared);
    const at::Tensor rows = normal(Key(6), {7, 3}, at::kDouble);
    const at::Tensor weights = vae.infer(vae.parameters(), rows, 9, Key(7)).log_weights();
    expect_close(weights, linear.log_p(rows).unsqueeze(1).expand({7, 9}), 1e-12);
    // Draws of the model have the mean and the covariance of that Gaussian.
    const at::Tensor centred = vae.sample(Key(8), 50000).visible - linear.bias;
    support::expect_mean(centred, at::zeros({3}, at::kDouble));
    support::expect_mean(centred.unsqueeze(2) * centred.unsqueeze(1), linear.covariance);
  }
}

TEST(Vae, OfSeveralLayersIsExactWhereItsEncoderIsThePosterior) {
  const support::LinearVae linear = support::deep_linear_vae();
  const Vae& vae = linear.vae;
  const at::Tensor rows = normal(Key(6), {7, 3}, at::kDouble);
  const at::Tensor weights = vae.infer(vae.parameters(), rows, 9, Key(7)).log_weights();
  expect_close(weights, linear.log_p(rows).unsqueeze(1).expand({7, 9}), 1e-12);
  const at::Tensor centred = vae.sample(Key(8), 50000).visible - linear.bias;
  support::expect_mean(centred, at::zeros({3}, at::kDouble));
  support::expect_mean(centred.unsqueeze(2) * centred.unsqueeze(1), linear.covariance);
}

TEST(Vae, OfSeveralLayersHasOneLawDownwardsUpwardsAndInItsNoise) {
  const Vae vae = support::small_deep_vae();
  const Moments& p = vae.parameters();
  const at::Tensor rows = all_rows(4), log_p = support::deep_quadrature_log_p(vae, rows);
  EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-10);
  // The mean weight of a row, and how often it is drawn, are p(x).
  const Trace trace = vae.infer(p, rows, 4000, Key(2));
  ASSERT_EQ(trace.latents.size(), 2U);
  ASSERT_EQ(trace.log_p.size(), 3U);
  support::expect_mean(trace.log_weights().exp().t(), log_p.exp());
  const Dream made = vae.sample(Key(5), 50000);
  const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)), support::numbers(log_p.exp()));
  expect_close(vae.score(p, rows, trace.latents).log_weights(), trace.log_weights(), 1e-12);
  const Trace first = vae.infer(p, rows, 2, Key(2)), rest = vae.infer(p, rows, 3, Key(2), 2);
  for (std::size_t l = 0; l < 2; ++l)
    expect_close(at::cat({first.latents[l], rest.latents[l]}, 1), trace.latents[l].narrow(1, 0, 5), 1e-13);
  // What made a row is standard normal once it is told as noise, and comes back.
  const Decoder& decoder = *vae.decoder();
  ASSERT_EQ(decoder.noise_width(), 2);
  const at::Tensor noise = decoder.noise(p, made.latents);
  support::expect_mean(noise, at::zeros({2}, at::kDouble));
  support::expect_mean(noise.unsqueeze(2) * noise.unsqueeze(1), at::eye(2, at::kDouble));
  const std::vector<at::Tensor> back = decoder.latents(p, noise);
  for (std::size_t l = 0; l < 2; ++l) expect_close(back[l], made.latents[l], 1e-12);
  expect_close(decoder.log_likelihood(p, rows, trace.latents), trace.log_p[0], 1e-13);
  // The second layer is encoded from the mean of the first.
  expect_close(vae.encode(rows, 1).means, vae.latent(1).mean(vae.posterior_raw(p, vae.encode(rows).means, 1)), 1e-14);
}

TEST(Vae, BeginsAtTheMeansOfTheData) {
  Vae vae({.visible = "bernoulli:3", .hidden = {50}, .latent = 4});
  initialize(vae, Key(9), at::tensor({0.0, 0.25, 1.0}));
  const at::Tensor bias = vae.parameters()["decoder.layer2.bias"];
  expect_close(bias.sigmoid(), at::tensor({0.001, 0.25, 0.999}, at::kDouble), 1e-6);
  EXPECT_EQ(vae.parameters()["encoder.layer2.bias"].abs().max().item<double>(), 0);
  EXPECT_GT(vae.parameters()["encoder.layer1.weights"].abs().max().item<double>(), 0);
  EXPECT_FALSE(at::equal(vae.parameters()["encoder.layer1.weights"].flatten().narrow(0, 0, 100),
                         vae.parameters()["decoder.layer1.weights"].flatten().narrow(0, 0, 100)));
  Vae again({.visible = "bernoulli:3", .hidden = {50}, .latent = 4});
  initialize(again, Key(9), at::tensor({0.0, 0.25, 1.0}));
  EXPECT_TRUE(support::identical(again.parameters(), vae.parameters())) << "same key";
  Vae real({.visible = "shared_gaussian:3:0.1", .hidden = {}, .latent = 2});
  real.parameters()["visible.shared"].fill_(3);
  initialize(real, Key(9), at::tensor({0.0, 0.25, 1.0}));
  EXPECT_TRUE(at::equal(real.parameters()["decoder.layer1.bias"], at::tensor({0.0F, 0.25F, 1.0F})));
  EXPECT_EQ(real.parameters()["visible.shared"].item<double>(), 0);
}

TEST(Vae, SharesOrCopiesItsParameters) {
  const Vae vae = small_vae(1);
  Vae single = vae.to(at::TensorOptions(at::kFloat)), copy = vae.to(at::TensorOptions(at::kDouble));
  EXPECT_EQ(single.encode(all_rows(4).to(at::kFloat)).means.scalar_type(), at::kFloat);
  EXPECT_EQ(single.infer(single.parameters(), all_rows(4).to(at::kFloat), 2, Key(1)).log_weights().scalar_type(),
            at::kDouble);
  copy.parameters()["decoder.layer1.bias"].fill_(5);
  EXPECT_NE(vae.parameters()["decoder.layer1.bias"][0].item<double>(), 5) << "a copy of its own";
  const Vae other = vae.with_parameters(copy.parameters());
  EXPECT_EQ(other.parameters()["decoder.layer1.bias"][0].item<double>(), 5);
  EXPECT_TRUE(at::equal(other.decode(at::zeros({1, 1}, at::kDouble)), copy.decode(at::zeros({1, 1}, at::kDouble))));
}

TEST(Vae, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { Vae({.visible = "gaussian:4"}); }), {"floor", "gaussian:4:0.05"});
  expect_mentions(message_of([] { Vae({.visible = "poisson:4"}); }), {"poisson", "bernoulli:N"});
  expect_mentions(message_of([] { Vae({.visible = "bernoulli:4", .latent = 0}); }), {"at least one", "0"});
  expect_mentions(message_of([] { Vae({.visible = "bernoulli:4", .activation = Activation::softmax}); }),
                  {"softmax", "tanh"});
  Vae vae = small_vae(2);
  const Moments& p = vae.parameters();
  const at::Tensor rows = all_rows(4);
  expect_mentions(message_of([&] { (void)vae.encode(all_rows(3)); }), {"bernoulli:4", "4", "3"});
  expect_mentions(message_of([&] { (void)vae.infer(p, rows, 0, Key(1)); }), {"draw", "0"});
  expect_mentions(message_of([&] { (void)vae.score(p, rows, {}); }), {"1 layer", "of 0"});
  expect_mentions(message_of([&] { (void)vae.score(p, rows, {at::zeros({16, 2})}); }), {"draws", "16"});
  expect_mentions(message_of([&] { initialize(vae, Key(1), at::zeros({5})); }), {"4", "5"});
}

}  // namespace
}  // namespace harmonium
