#include "harmonium/models/directed/draw.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/draw.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::quadrature_log_p;
using support::random_draw_net;
using support::small_draw_net;

std::vector<DrawNet> small_draw_nets() {
  return {small_draw_net(1, false), small_draw_net(1, true), small_draw_net(2, false), small_draw_net(2, true)};
}

// Sides that differ, grids that differ, attention on either side alone, real values.
std::vector<DrawStructure> draw_shapes() {
  const auto shape = [](const std::string& visible, std::int64_t read, std::int64_t write) {
    return DrawStructure{.visible = visible,
                         .height = 2,
                         .width = 3,
                         .steps = 3,
                         .latent = 2,
                         .hidden = 4,
                         .read = read,
                         .write = write};
  };
  return {shape("bernoulli:6", 0, 0), shape("bernoulli:6", 2, 3), shape("bernoulli:6", 1, 0),
          shape("shared_gaussian:6:0.1", 0, 2)};
}

at::Tensor draw_rows(const DrawNet& net, std::int64_t count) {
  const at::Tensor noise = uniform(Key(4), {count, net.visible().width()}, at::kDouble);
  return net.structure().visible.starts_with("bernoulli") ? noise.gt(0.5).to(at::kDouble) : noise;
}

std::vector<double> plain_numbers(const at::Tensor& values) {
  const at::Tensor flat = values.contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

TEST(DrawNet, ScoresGivenLatentsAsItsHeaderSays) {
  for (const DrawStructure& shape : draw_shapes()) {
    const DrawNet net = random_draw_net(shape);
    const at::Tensor rows = draw_rows(net, 3);
    std::vector<at::Tensor> latents;
    for (std::uint64_t t = 0; t < 3; ++t) latents.push_back(normal(Key(5).fold_in(t), {3, 2, 2}, at::kDouble));
    const Trace trace = net.score(net.parameters(), rows, latents);
    ASSERT_EQ(trace.log_p.size(), 4U);
    ASSERT_EQ(trace.log_q.size(), 3U);
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t draw = 0; draw < 2; ++draw) {
        std::vector<std::vector<double>> z;
        for (const at::Tensor& each : latents) z.push_back(plain_numbers(each[row][draw]));
        const support::PlainDraw::Logs plain = support::PlainDraw(net).score(plain_numbers(rows[row]), z);
        EXPECT_NEAR(trace.log_p[0][row][draw].item<double>(), plain.log_p, 1e-11 * (1 + std::abs(plain.log_p)));
        std::vector<at::Tensor> flat;
        for (std::size_t t = 0; t < 3; ++t) {
          EXPECT_NEAR(trace.log_q[t][row][draw].item<double>(), plain.log_q[t], 1e-11 * (1 + std::abs(plain.log_q[t])));
          expect_close(trace.log_p[t + 1][row][draw], support::log_standard_normal(latents[t][row][draw]), 1e-13);
          flat.push_back(latents[t][row].narrow(0, draw, 1));
        }
        const std::vector<at::Tensor> canvases = net.canvases(net.parameters(), flat);
        ASSERT_EQ(canvases.size(), 4U);
        for (std::size_t t = 0; t < 4; ++t)
          expect_close(canvases[t][0], at::tensor(plain.canvases[t], at::kDouble), 1e-12);
      }
  }
}

TEST(DrawNet, GivesAllRowsTogetherProbabilityOne) {
  for (const DrawNet& net : small_draw_nets()) {
    const at::Tensor p = quadrature_log_p(net, all_rows(4)).exp();
    EXPECT_NEAR(p.sum().item<double>(), 1, 1e-10);
    EXPECT_GT((p - 1.0 / 16).abs().max().item<double>(), 0.02) << "a net that draws coins tests nothing";
  }
}

// E_q w = p(x), row by row: inference, priors and decoder are held to the same integral. False alarms 1e-6.
TEST(DrawNet, HasWeightsWithTheProbabilityOfARowAsTheirMean) {
  for (const DrawNet& net : small_draw_nets()) {
    const at::Tensor log_p = quadrature_log_p(net, all_rows(4));
    const at::Tensor log_w = net.infer(net.parameters(), all_rows(4), 4000, Key(2)).log_weights();
    EXPECT_EQ(log_w.scalar_type(), at::kDouble);
    EXPECT_GT((log_w - log_p.unsqueeze(1)).std().item<double>(), 0.1) << "tight everywhere: nothing was tested";
    support::expect_mean(log_w.exp().t(), log_p.exp());
  }
}

// L_1 by quadrature of q log w, L_4 from draws: 5.5 standard errors.
TEST(DrawNet, HasBoundsThatRiseToTheLogLikelihood) {
  for (const DrawNet& net : small_draw_nets()) {
    const at::Tensor rows = all_rows(4).narrow(0, 5, 3), log_p = quadrature_log_p(net, rows);
    const support::Grid nodes = support::grid(net.structure().steps);
    std::vector<at::Tensor> axes;
    for (const at::Tensor& axis : nodes.points.split(1, 1)) axes.push_back(axis.expand({3, -1, -1}));
    const Trace trace = net.score(net.parameters(), rows, axes);
    at::Tensor log_q = trace.log_q[0] + nodes.log_volume;
    for (std::size_t t = 1; t < trace.log_q.size(); ++t) log_q = log_q + trace.log_q[t];
    expect_close(at::logsumexp(log_q, 1), at::zeros({3}, at::kDouble), 1e-8);
    const at::Tensor first = (log_q.exp() * trace.log_weights()).sum(1);
    const at::Tensor drawn = net.infer(net.parameters(), rows, 4 * 3000, Key(3)).log_weights();
    const at::Tensor fourth = at::logsumexp(drawn.reshape({3, 3000, 4}), 2) - std::log(4.0);
    support::expect_mean(drawn.t(), first);
    const at::Tensor error = support::allowed_deviations * fourth.std(1) / std::sqrt(3000.0);
    EXPECT_TRUE((log_p - first).gt(0.005).all().item<bool>());
    EXPECT_TRUE((fourth.mean(1) - first).gt(error).all().item<bool>());
    EXPECT_TRUE((log_p - fourth.mean(1)).gt(-error).all().item<bool>());
  }
}

TEST(DrawNet, NumbersItsDrawsAndScoresThemAgain) {
  for (const DrawStructure& shape : draw_shapes()) {
    const DrawNet net = random_draw_net(shape);
    const at::Tensor rows = draw_rows(net, 4);
    const auto infer = [&](std::int64_t draws, std::int64_t first) {
      return net.infer(net.parameters(), rows, draws, Key(4), first);
    };
    const Trace all = infer(5, 0), one = infer(2, 0), other = infer(3, 2);
    const Trace again = net.score(net.parameters(), rows, all.latents);
    EXPECT_FALSE(at::equal(all.latents[0].select(1, 0), all.latents[0].select(1, 1)));
    EXPECT_FALSE(at::equal(all.latents[0].select(1, 0), all.latents[1].select(1, 0)));
    for (std::size_t t = 0; t < all.latents.size(); ++t) {
      expect_close(at::cat({one.latents[t], other.latents[t]}, 1), all.latents[t], 1e-13);
      expect_close(again.log_q[t], all.log_q[t], 1e-13);
      expect_close(again.log_p[t], all.log_p[t], 1e-13);
    }
    expect_close(at::cat({one.log_weights(), other.log_weights()}, 1), all.log_weights(), 1e-12);
    // Each row has noise of its own, whatever stands beside it.
    const Trace alone = net.infer(net.parameters(), rows.narrow(0, 0, 1), 5, Key(4));
    expect_close(alone.latents[2], all.latents[2].narrow(0, 0, 1), 1e-13);
  }
}

// What comes later changes nothing that came before: neither canvases nor q.
TEST(DrawNet, IsCausal) {
  for (const DrawStructure& shape : draw_shapes()) {
    const DrawNet net = random_draw_net(shape);
    const at::Tensor rows = draw_rows(net, 3);
    std::vector<at::Tensor> z, wrapped;
    for (std::uint64_t t = 0; t < 3; ++t) {
      z.push_back(normal(Key(6).fold_in(t), {3, 2}, at::kDouble).requires_grad_());
      wrapped.push_back(z.back().unsqueeze(1));
    }
    const auto moves = [&](const at::Tensor& value, std::size_t step) {
      for (at::Tensor& each : z) each.mutable_grad() = at::Tensor();
      (value * normal(Key(7), value.sizes(), at::kDouble)).sum().backward({}, /*retain_graph=*/true);
      return z[step].grad().defined() && z[step].grad().abs().max().item<double>() > 0;
    };
    const std::vector<at::Tensor> canvases = net.canvases(net.parameters(), z);
    const Trace trace = net.score(net.parameters(), rows, wrapped);
    for (std::size_t t = 1; t < 4; ++t)
      for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(moves(canvases[t], s), s < t) << "c_" << t << ", z_" << s + 1;
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(moves(trace.log_q[t], s), s <= t) << "q_" << t << ", z_" << s;
  }
}

TEST(DrawNet, SamplesFromWhatItAssignsProbabilityTo) {
  for (const bool attention : {false, true}) {
    const DrawNet net = small_draw_net(2, attention);
    const Dream made = net.sample(Key(5), 50000);
    const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)),
                                support::numbers(quadrature_log_p(net, all_rows(4)).exp()));
    EXPECT_TRUE(at::equal(net.sample(Key(5), 50000).visible, made.visible)) << "same key";
    // Latents come with the rows that they made.
    ASSERT_EQ(made.latents.size(), 2U);
    expect_close(net.canvases(net.parameters(), made.latents).back().sigmoid(), made.means, 1e-13);
    const at::Tensor both = at::cat(made.latents, 1);
    support::expect_mean(both.unsqueeze(2) * both.unsqueeze(1), at::eye(2, at::kDouble));
  }
}

TEST(DrawNet, IsADecoderOfItsNoise) {
  for (const DrawStructure& shape : draw_shapes()) {
    const DrawNet net = random_draw_net(shape);
    const at::Tensor rows = draw_rows(net, 4);
    const Moments& p = net.parameters();
    const Trace trace = net.infer(p, rows, 3, Key(8));
    const Decoder& decoder = *net.decoder();
    ASSERT_EQ(decoder.noise_width(), 6);
    const at::Tensor noise = decoder.noise(p, trace.latents);
    EXPECT_EQ(noise.sizes(), (std::vector<std::int64_t>{4, 3, 6}));
    const std::vector<at::Tensor> back = decoder.latents(p, noise);
    for (std::size_t t = 0; t < 3; ++t) EXPECT_TRUE(at::equal(back[t], trace.latents[t]));
    expect_close(decoder.log_likelihood(p, rows, back), trace.log_p[0], 1e-12);
  }
}

TEST(DrawNet, EncodesByMeansAndReconstructsFromThem) {
  const DrawNet net = random_draw_net(draw_shapes()[1]);
  const at::Tensor rows = draw_rows(net, 4), codes = net.encode(rows);
  ASSERT_EQ(codes.sizes(), (std::vector<std::int64_t>{4, 6}));
  std::vector<at::Tensor> steps;
  for (const at::Tensor& each : codes.split(2, 1)) steps.push_back(each.unsqueeze(1));
  // At its mean log q of two variables is −Σ log σ − log 2π, whatever came before.
  const DrawWalk walk = net.walk(net.parameters(), rows, [&](std::int64_t step, const at::Tensor&) {
    return steps[static_cast<std::size_t>(step)].squeeze(1);
  });
  for (std::size_t t = 0; t < 3; ++t) expect_close(net.latent().mean(walk.posteriors[t]), walk.latents[t], 1e-13);
  expect_close(net.reconstruct(rows), walk.canvas.sigmoid(), 1e-13);
}

TEST(DrawNet, BeginsAtTheMeansOfTheData) {
  DrawNet net({.visible = "bernoulli:4", .height = 2, .width = 2, .steps = 3, .latent = 2, .hidden = 8, .write = 2});
  const at::Tensor means = at::tensor({0.0, 0.25, 0.5, 1.0});
  initialize(net, Key(9), means);
  expect_close(net.parameters()["canvas.start"].sigmoid(), at::tensor({0.001, 0.25, 0.5, 0.999}, at::kDouble), 1e-6);
  EXPECT_TRUE(net.parameters().contains("write_place.layer1.weights"));
  EXPECT_FALSE(net.parameters().contains("read_place.layer1.weights"));
  for (const auto& [name, value] : net.parameters().entries())
    EXPECT_TRUE(!name.ends_with("weights") || value.abs().max().item<double>() > 0) << name;
  DrawNet again = net.to(at::TensorOptions(at::kFloat));
  initialize(again, Key(9), means);
  EXPECT_TRUE(support::identical(again.parameters(), net.parameters())) << "same key";
  initialize(again, Key(10), means);
  EXPECT_FALSE(support::identical(again.parameters(), net.parameters()));
  DrawNet real({.visible = "shared_gaussian:4:0.1", .height = 1, .width = 4, .steps = 1, .latent = 1, .hidden = 2});
  real.parameters()["visible.shared"].fill_(3);
  initialize(real, Key(9), means);
  EXPECT_TRUE(at::equal(real.parameters()["canvas.start"], means.to(at::kFloat)));
  EXPECT_EQ(real.parameters()["visible.shared"].item<double>(), 0);
}

TEST(DrawNet, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const auto made = [](const DrawStructure& shape) { return message_of([&] { DrawNet{shape}; }); };
  expect_mentions(made({.visible = "gaussian:784"}), {"floor", "gaussian:784:0.05"});
  expect_mentions(made({.visible = "gaussian:784:0.1"}), {"one number for each column", "gaussian:784:0.1"});
  expect_mentions(made({.visible = "bernoulli:783"}), {"28 × 28", "bernoulli:783"});
  expect_mentions(made({.steps = 0}), {"one step", "0"});
  expect_mentions(made({.read = -1}), {"-1", "0 for no attention"});
  const DrawNet net = small_draw_net(2, true);
  const Moments& p = net.parameters();
  const at::Tensor rows = all_rows(4);
  expect_mentions(message_of([&] { (void)net.encode(all_rows(3)); }), {"bernoulli:4", "4", "3"});
  expect_mentions(message_of([&] { (void)net.infer(p, rows, 0, Key(1)); }), {"draw", "0"});
  expect_mentions(message_of([&] { (void)net.score(p, rows, {}); }), {"2 steps", "of 0"});
  const at::Tensor z = at::zeros({16, 1, 2}, at::kDouble);
  expect_mentions(message_of([&] { (void)net.score(p, rows, {z, z}); }), {"rows × draws × 1", "16"});
  expect_mentions(message_of([&] { (void)net.decoder()->latents(p, at::zeros({3})); }), {"2 columns", "3"});
  DrawNet other = net;
  expect_mentions(message_of([&] { initialize(other, Key(1), at::zeros({5})); }), {"4", "5"});
}

}  // namespace
}  // namespace harmonium
