#include "harmonium/models/directed/ladder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

// Every parameter ~ N(0, scale²), in float64.
Ladder random_ladder(const LadderStructure& structure, double scale = 0.5, std::uint64_t seed = 1) {
  Ladder ladder(structure, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : ladder.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble));
  return ladder;
}

// Two levels of one variable each above four bits.
Ladder two_levels() {
  Ladder ladder = random_ladder({.visible = "bernoulli:4", .latent = {1, 1}, .channels = 3}, 0.6);
  for (const char* level : {"level1", "level2"}) {  // q is wide, and lies within the grid
    ladder.parameters()[format("{}.posterior.weights", level)].mul_(0.05);
    ladder.parameters()[format("{}.posterior.bias", level)].fill_(0.1);
  }
  return ladder;
}

// Pictures of 4 × 4 bits with a level at full size and one at half of it.
LadderStructure little_pictures() {
  return {.visible = "bernoulli:16", .height = 4, .width = 4, .latent = {2, 1}, .scales = {0, 1}, .channels = 3};
}

std::vector<LadderStructure> ladder_shapes() {
  return {{.visible = "bernoulli:4", .latent = {2, 3}, .channels = 3, .blocks = 2},
          {.visible = "shared_gaussian:4:0.1", .latent = {2}, .channels = 3},
          little_pictures(),
          {.visible = "bernoulli:15",
           .height = 3,
           .width = 5,
           .latent = {1, 2, 1},
           .scales = {1, 1, 2},
           .channels = 2,
           .blocks = 2}};
}

at::Tensor some_rows(const Ladder& ladder, std::int64_t count) {
  return uniform(Key(4), {count, ladder.visible().width()}, at::kDouble).gt(0.5).to(at::kDouble);
}

// log p(x) of two_levels by the trapezoid rule over both ε.
at::Tensor quadrature_of_ladder(const Ladder& ladder, const at::Tensor& rows) {
  const support::Grid nodes = support::grid(2);
  const LadderWalk made =
      ladder.walk(ladder.parameters(), nodes.points.size(0), [&](std::size_t number, const LadderLevel&) {
        return nodes.points.narrow(1, static_cast<std::int64_t>(number), 1);
      });
  const at::Tensor log_p = ladder.visible().log_prob(rows.unsqueeze(1), made.visible_raw);
  return at::logsumexp(log_p + support::log_standard_normal(nodes.points), 1) + nodes.log_volume;
}

TEST(Ladder, GivesAllRowsTogetherProbabilityOne) {
  EXPECT_NEAR(quadrature_of_ladder(two_levels(), all_rows(4)).exp().sum().item<double>(), 1, 1e-11);
}

// E_q w = p(x), row by row: inference, priors and decoder are held to the same integral. False alarms 1e-6.
TEST(Ladder, HasWeightsWithTheProbabilityOfARowAsTheirMean) {
  const Ladder ladder = two_levels();
  const at::Tensor log_p = quadrature_of_ladder(ladder, all_rows(4));
  const at::Tensor log_w = ladder.infer(ladder.parameters(), all_rows(4), 4000, Key(2)).log_weights();
  EXPECT_GT((log_w - log_p.unsqueeze(1)).std().item<double>(), 0.1) << "tight everywhere: nothing was tested";
  support::expect_mean(log_w.exp().t(), log_p.exp());
}

// L_1 by quadrature of q log w, L_4 from draws: 5.5 standard errors.
TEST(Ladder, HasBoundsThatRiseToTheLogLikelihood) {
  const Ladder ladder = two_levels();
  const at::Tensor rows = all_rows(4).narrow(0, 5, 3), log_p = quadrature_of_ladder(ladder, rows);
  const support::Grid nodes = support::grid(2);
  const auto axis = [&](std::int64_t level) { return nodes.points.narrow(1, level, 1).expand({3, -1, -1}); };
  const Trace trace = ladder.score(ladder.parameters(), rows, {axis(0), axis(1)});
  const at::Tensor log_q = trace.log_q[0] + trace.log_q[1] + nodes.log_volume;
  expect_close(at::logsumexp(log_q, 1), at::zeros({3}, at::kDouble), 1e-5);  // the second derivative of elu jumps
  const at::Tensor first = (log_q.exp() * trace.log_weights()).sum(1);
  const at::Tensor drawn = ladder.infer(ladder.parameters(), rows, 4 * 3000, Key(3)).log_weights();
  const at::Tensor fourth = at::logsumexp(drawn.reshape({3, 3000, 4}), 2) - std::log(4.0);
  support::expect_mean(drawn.t(), first);
  const at::Tensor error = support::allowed_deviations * fourth.std(1) / std::sqrt(3000.0);
  EXPECT_TRUE((log_p - first).gt(0.005).all().item<bool>());
  EXPECT_TRUE((fourth.mean(1) - first).gt(error).all().item<bool>());
  EXPECT_TRUE((log_p - fourth.mean(1)).gt(-error).all().item<bool>());
}

// The densities of z in place of those of ε: their ratio is the same, and so is the KL.
TEST(Ladder, HasTheDivergencesAndRatiosOfTheLatentVariablesThemselves) {
  for (const LadderStructure& shape : ladder_shapes()) {
    const Ladder ladder = random_ladder(shape, 0.2);  // deviations stay within what is allowed
    const at::Tensor rows = some_rows(ladder, 5);
    const LadderWalk walk = ladder.walk(ladder.parameters(), rows, 3, ladder.posterior_draws(Key(5), 3));
    const Trace trace = ladder.infer(ladder.parameters(), rows, 3, Key(5));
    for (std::size_t l = 0; l < ladder.levels(); ++l) {
      const GaussianDistribution& law = ladder.latent(l);
      const LadderLevel& level = walk.levels[l];
      const at::Tensor mean = law.mean(level.prior), s = law.log_deviation(level.prior);
      const at::Tensor raw =
          at::cat({mean + s.exp() * law.mean(level.posterior), s + law.log_deviation(level.posterior)}, 1);
      expect_close(ladder.kl(l, level), *law.kl(raw, level.prior), 1e-11);
      const at::Tensor ratio = law.log_prob(level.latents, level.prior) - law.log_prob(level.latents, raw);
      expect_close((trace.log_p[l + 1] - trace.log_q[l]).reshape({15}), ratio, 1e-11);
      const at::Tensor shift = law.mean(level.posterior), log_ratio = law.log_deviation(level.posterior);
      expect_close(ladder.kl(l, level), 0.5 * ((2 * log_ratio).exp() + shift.square() - 1) - log_ratio, 1e-12);
    }
  }
}

TEST(Ladder, NumbersItsDrawsWhateverThePieces) {
  for (const LadderStructure& shape : ladder_shapes()) {
    const Ladder ladder = random_ladder(shape);
    const at::Tensor rows = some_rows(ladder, 4);
    const auto infer = [&](const Ladder& of, std::int64_t draws, std::int64_t first) {
      return of.infer(of.parameters(), rows, draws, Key(4), first);
    };
    const Trace all = infer(ladder, 5, 0);
    EXPECT_EQ(all.log_p.size(), ladder.levels() + 1);
    EXPECT_EQ(all.log_weights().scalar_type(), at::kDouble);
    expect_close(ladder.score(ladder.parameters(), rows, all.latents).log_weights(), all.log_weights(), 1e-11);
    expect_close(all.log_weights(), at::cat({infer(ladder, 2, 0).log_weights(), infer(ladder, 3, 2).log_weights()}, 1),
                 1e-11);
    const c10::NoGradGuard without_gradient;
    const Trace pieces = infer(ladder.in_pieces_of(2 * 4 * ladder.net().widest()), 5, 0);
    for (std::size_t l = 0; l < ladder.levels(); ++l) {
      expect_close(pieces.latents[l], all.latents[l], 1e-12);
      expect_close(pieces.log_q[l], all.log_q[l], 1e-11);
    }
    expect_close(pieces.log_weights(), all.log_weights(), 1e-11);
    EXPECT_FALSE(at::equal(all.latents[0].select(1, 0), all.latents[0].select(1, 1)));
    const Dream whole = ladder.dream(ladder.parameters(), 5, Key(6));
    const Dream parts = ladder.in_pieces_of(2 * ladder.net().widest()).dream(ladder.parameters(), 5, Key(6));
    EXPECT_TRUE(at::equal(parts.visible, whole.visible));
    expect_close(parts.means, whole.means, 1e-12);
  }
}

TEST(Ladder, IsADecoderOfItsNoise) {
  for (const LadderStructure& shape : ladder_shapes()) {
    const Ladder ladder = random_ladder(shape);
    const at::Tensor rows = some_rows(ladder, 4);
    const Trace trace = ladder.infer(ladder.parameters(), rows, 3, Key(7));
    const at::Tensor noise = at::cat(trace.latents, 2);
    EXPECT_EQ(noise.size(2), ladder.noise_width());
    expect_close(ladder.log_likelihood(ladder.parameters(), rows, noise), trace.log_p[0], 1e-11);
    at::Tensor prior = trace.log_p[1];
    for (std::size_t l = 1; l < ladder.levels(); ++l) prior = prior + trace.log_p[l + 1];
    expect_close(prior, support::log_standard_normal(noise), 1e-11);
  }
}

TEST(Ladder, DreamsRowsOfItsOwnLaw) {
  const Ladder ladder = two_levels();
  const Dream made = ladder.dream(ladder.parameters(), 50000, Key(5));
  support::expect_mean(made.visible - made.means, at::zeros({4}, at::kDouble));
  for (const at::Tensor& noise : made.latents) {
    support::expect_mean(noise, at::zeros({1}, at::kDouble));
    support::expect_mean(noise.square(), at::ones({1}, at::kDouble));
    support::expect_mean((made.visible - made.means) * noise, at::zeros({4}, at::kDouble));
  }
  const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
  support::expect_frequencies(support::numbers(at::bincount(codes, {}, 16)),
                              support::numbers(quadrature_of_ladder(ladder, all_rows(4)).exp()));
}

// Kernels of one place leave halvings and repetitions alone to join pixels: those of one cell of the coarsest grid,
// which lies evenly around the picture.
TEST(Ladder, HasItsPictureInTheMiddleOfItsGrids) {
  const Ladder ladder = random_ladder(
      {.visible = "bernoulli:35", .height = 5, .width = 7, .latent = {2}, .scales = {2}, .channels = 4, .kernel = 1});
  EXPECT_EQ(ladder.latent(0).width(), 2 * 2 * 2);
  const at::Tensor rows = normal(Key(5), {3, 35}, at::kDouble).requires_grad_();
  const auto cell = [](std::int64_t pixel) { return std::pair{(pixel / 7 + 1) / 4, pixel % 7 / 4}; };
  for (std::int64_t i = 0; i < 35; ++i) {
    rows.mutable_grad() = at::Tensor();
    ladder.walk(ladder.parameters(), rows, 1, ladder.most_probable()).visible_raw.select(1, i).sum().backward();
    for (std::int64_t j = 0; j < 35; ++j)
      EXPECT_EQ(rows.grad().select(1, j).abs().max().item<double>() > 0, cell(i) == cell(j)) << i << " " << j;
  }
}

TEST(Ladder, TakesPicturesOfAnySize) {
  struct Case {
    std::int64_t height, width;
    std::vector<std::int64_t> scales, places;
  };
  for (const Case& one : {Case{8, 8, {1, 2}, {16, 4}}, Case{28, 28, {2, 2, 3, 3, 4, 4}, {64, 64, 16, 16, 4, 4}},
                          Case{1, 9, {0}, {9}}, Case{2, 4, {0, 1}, {8, 2}}}) {
    Ladder ladder({.visible = format("bernoulli:{}", one.height * one.width),
                   .height = one.height,
                   .width = one.width,
                   .latent = std::vector<std::int64_t>(one.scales.size(), 3),
                   .scales = one.scales,
                   .channels = 4});
    initialize(ladder, Key(1), at::full({one.height * one.width}, 0.3));
    for (std::size_t l = 0; l < ladder.levels(); ++l) EXPECT_EQ(ladder.latent(l).width(), 3 * one.places[l]);
    const at::Tensor rows = some_rows(ladder, 3).to(at::kFloat);
    const Trace trace = ladder.infer(ladder.parameters(), rows, 2, Key(2));
    EXPECT_TRUE(at::isfinite(trace.log_weights()).all().item<bool>());
    EXPECT_EQ(ladder.dream(ladder.parameters(), 3, Key(3)).visible.sizes(), rows.sizes());
    double weights = 0;
    for (const auto& [name, value] : ladder.parameters().entries())
      if (name.ends_with(".weights")) weights += static_cast<double>(value.numel());
    EXPECT_EQ(ladder.net().weights(), weights);
  }
}

TEST(Ladder, BeginsAtTheMeansOfTheDataWithCalmLevels) {
  for (const LadderStructure& shape : ladder_shapes()) {
    Ladder ladder(shape, at::kDouble);
    const at::Tensor means = at::linspace(0, 0.9, ladder.visible().width(), at::kDouble);
    initialize(ladder, Key(9), means);
    const at::Tensor rows = some_rows(ladder, 20);
    const LadderWalk walk = ladder.walk(ladder.parameters(), rows, 1, ladder.posterior_draws(Key(1), 1));
    expect_close(ladder.visible().mean(walk.visible_raw),
                 means.clamp_min(shape.visible[0] == 'b' ? 0.001 : 0).expand({20, means.size(0)}), 1e-12);
    for (std::size_t l = 0; l < ladder.levels(); ++l)
      EXPECT_LT(ladder.kl(l, walk.levels[l]).mean().item<double>(), 0.2);
    Ladder again(shape, at::kDouble);
    initialize(again, Key(9), means);
    for (const auto& [name, value] : ladder.parameters().entries()) {
      EXPECT_TRUE(at::equal(value, again.parameters()[name])) << name;
      const bool drawn = (name.ends_with(".weights") && name != "output.weights") || name == "top";
      EXPECT_EQ(value.abs().max().item<double>() > 0, drawn || name == "output.bias") << name;
    }
  }
}

TEST(Ladder, DropsTheSameValuesForTheSameKey) {
  const Ladder ladder = random_ladder(little_pictures());
  const at::Tensor rows = some_rows(ladder, 4);
  const auto weights = [&](double share, std::uint64_t key) {
    const Ladder dropped = ladder.dropping(share, Key(key));
    const Trace trace = dropped.infer(dropped.parameters(), rows, 2, Key(1));
    // Inference and score drop the same, so that objectives may ask for both.
    expect_close(dropped.score(dropped.parameters(), rows, trace.latents).log_weights(), trace.log_weights(), 1e-11);
    return trace.log_weights();
  };
  EXPECT_TRUE(at::equal(weights(0.5, 1), weights(0.5, 1)));
  EXPECT_FALSE(at::equal(weights(0.5, 1), weights(0.5, 2)));
  EXPECT_TRUE(at::equal(weights(0, 1), ladder.infer(ladder.parameters(), rows, 2, Key(1)).log_weights()));
}

TEST(Ladder, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { Ladder({.visible = "poisson:4"}); }), {"poisson", "bernoulli:N"});
  expect_mentions(message_of([] { Ladder({.visible = "bernoulli:4", .latent = {}}); }), {"level"});
  expect_mentions(message_of([] { Ladder({.visible = "bernoulli:4", .latent = {2, 0}}); }), {"level 2", "0"});
  LadderStructure shape = little_pictures();
  shape.scales = {1, 0};
  expect_mentions(message_of([&] { (void)Ladder(shape); }), {"level 2", "smaller"});
  shape.scales = {0, 3};
  expect_mentions(message_of([&] { (void)Ladder(shape); }), {"4 × 4", "3 times"});
  shape.scales = {0};
  expect_mentions(message_of([&] { (void)Ladder(shape); }), {"2 levels", "1 scales"});
  shape = little_pictures();
  shape.kernel = 2;
  expect_mentions(message_of([&] { (void)Ladder(shape); }), {"kernel 2", "odd"});
  Ladder ladder = two_levels();
  const Moments& p = ladder.parameters();
  expect_mentions(message_of([&] { (void)ladder.infer(p, all_rows(3), 1, Key(1)); }), {"bernoulli:4", "4", "3"});
  expect_mentions(message_of([&] { (void)ladder.infer(p, all_rows(4), 0, Key(1)); }), {"draw", "0"});
  expect_mentions(message_of([&] { (void)ladder.score(p, all_rows(4), {}); }), {"2 levels", "0"});
  expect_mentions(message_of([&] { initialize(ladder, Key(1), at::zeros({5})); }), {"4", "5"});
}

}  // namespace
}  // namespace harmonium
