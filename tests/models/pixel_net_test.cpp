#include "harmonium/models/autoregressive/pixel_net.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/autoregressive/causality.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

PixelNet random_pixel_net(const PixelNetStructure& structure, double scale = 0.5) {
  PixelNet net(structure, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(scale * normal(Key(3).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}

// 3 × 3 pixels and other shapes, with attention and without, a wide kernel, pictures of one row and of one column.
std::vector<PixelNetStructure> pixel_shapes() {
  return {{.height = 3, .width = 3, .channels = 4, .blocks = 2, .attention = 0},
          {.height = 3, .width = 3, .channels = 4, .blocks = 2, .attention = 2},
          {.height = 2, .width = 4, .channels = 3, .blocks = 3, .attention = 1, .kernel = 5},
          {.height = 1, .width = 6, .channels = 4, .blocks = 1, .attention = 1},
          {.height = 6, .width = 1, .channels = 4, .blocks = 1, .attention = 0}};
}

TEST(PixelNet, HasProbabilitiesThatAddUpToOne) {
  for (const PixelNetStructure& shape : pixel_shapes()) {
    const PixelNet net = random_pixel_net(shape);
    EXPECT_NEAR(net.log_probabilities(all_rows(net.pixels())).exp().sum().item<double>(), 1, 1e-12)
        << shape.height << " × " << shape.width;
  }
}

TEST(PixelNet, SpreadsItsAttentionEvenlyAndEndsWithIt) {
  for (const auto& [attention, after] : {std::pair{2, std::vector<std::int64_t>{3, 6}}, {1, {6}}, {3, {2, 4, 6}}}) {
    const PixelNet net({.height = 2, .width = 2, .channels = 2, .blocks = 6, .attention = attention});
    std::vector<std::int64_t> found;
    for (std::int64_t block = 0; block < 6; ++block)
      if (net.attends_after(block)) found.push_back(block + 1);
    EXPECT_EQ(found, after);
    EXPECT_EQ(net.parameters()["attention.input.weights"].size(0), attention);
  }
}

// Derivatives of log-odds by pixels: zero for the pixel itself and all later ones, and nowhere zero before. Pictures
// are no larger than what the blocks reach, so an earlier pixel that is not seen is in a blind spot. In the one of 7 ×
// 7 the first layers do not reach the upper right corner, where a single stream of masked convolutions has its blind
// spot.
TEST(PixelNet, SeesEveryEarlierPixelAndNothingElse) {
  std::vector<PixelNetStructure> shapes = pixel_shapes();
  shapes.push_back({.height = 7, .width = 7, .blocks = 2, .attention = 0});
  for (PixelNetStructure shape : shapes) {
    shape.channels = 8;
    const PixelNet net = random_pixel_net(shape);
    for (std::int64_t i = 0; i < net.pixels(); ++i) {
      const at::Tensor rows = normal(Key(5), {10, net.pixels()}, at::kDouble).requires_grad_();
      net.raw(net.parameters(), rows).select(1, i).sum().backward();
      const at::Tensor seen = std::get<0>(rows.grad().abs().max(0));
      for (std::int64_t j = 0; j < net.pixels(); ++j)
        if (j < i)
          EXPECT_GT(seen[j].item<double>(), 0) << "pixel " << i << " is blind to " << j;
        else
          EXPECT_EQ(seen[j].item<double>(), 0) << "pixel " << i << " sees " << j;
    }
  }
}

// A far corner changes what is said of the last pixel through attention, and does not where there is none and the
// convolutions do not reach so far.
TEST(PixelNet, SeesBeyondItsConvolutionsByAttentionAlone) {
  PixelNetStructure shape{.height = 9, .width = 9, .channels = 4, .blocks = 1, .attention = 0};
  const at::Tensor row = all_rows(1).narrow(0, 0, 1).repeat({1, 81});
  at::Tensor other = row.clone();
  other[0][0] = 1;
  const auto moved = [&] {
    const PixelNet net = random_pixel_net(shape);
    return (net.raw(net.parameters(), other) - net.raw(net.parameters(), row)).abs()[0][80].item<double>();
  };
  EXPECT_EQ(moved(), 0);  // 3 rows up by the first layer, 1 by each of two convolutions
  shape.attention = 1;
  EXPECT_GT(moved(), 0);
}

TEST(PixelNet, HasTheGradientOfItsFiniteDifferences) {
  const PixelNet net = random_pixel_net({.height = 2, .width = 3, .channels = 3, .blocks = 2, .attention = 1}, 0.4);
  const at::Tensor rows = all_rows(6).narrow(0, 20, 7);
  constexpr double dropout = 0.2;
  const auto mean = [&](const Moments& parameters) { return net.log_prob(parameters, rows, dropout, Key(8)).mean(); };
  const Moments leaves = net.parameters().map([](const at::Tensor& x) { return x.clone().requires_grad_(); });
  mean(leaves).backward();
  const Moments direction = net.parameters().map(
      [](const at::Tensor& x) { return normal(Key(static_cast<std::uint64_t>(x.numel())), x.sizes(), at::kDouble); });
  constexpr double step = 1e-5;
  for (const auto& [name, value] : net.parameters().entries()) {
    const auto moved = [&](double by) {
      Moments other = net.parameters().clone();
      other[name].add_(direction[name], by);
      return mean(other).item<double>();
    };
    EXPECT_NEAR((leaves[name].grad() * direction[name]).sum().item<double>(), (moved(step) - moved(-step)) / (2 * step),
                1e-8)
        << name;
  }
}

// Draws are another computation than the pass: pixel by pixel, from what is remembered.
TEST(PixelNet, DrawsItsOwnLaw) {
  constexpr std::int64_t count = 20000;
  for (const PixelNetStructure& shape : pixel_shapes()) {
    const PixelNet net = random_pixel_net(shape, 0.8);
    const OrderedDraw drawn = net.sample(Key(11), count);
    const std::int64_t states = std::int64_t{1} << net.pixels();
    const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(net.pixels(), at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, states)),
                                support::numbers(net.log_probabilities(all_rows(net.pixels())).exp()));
    expect_close(drawn.means, net.raw(net.parameters(), drawn.values).sigmoid(), 1e-12);
  }
}

TEST(PixelNet, CompletesWhatComesAfterAllThatIsKnown) {
  constexpr std::int64_t count = 20000;
  const PixelNet net = random_pixel_net({.height = 3, .width = 3, .channels = 4, .blocks = 2, .attention = 1}, 0.8);
  for (const std::int64_t first : {2, 4, 6}) {  // in the middle of a row, after one and after two whole rows
    at::Tensor known = at::full({count, 9}, std::nan(""), at::kDouble);
    for (std::int64_t i = 0; i < first; ++i) known.select(1, i).fill_(double(i % 2));
    const OrderedDraw drawn = net.complete(Key(5), known);
    const at::Tensor rows = all_rows(9);
    at::Tensor p = net.log_probabilities(rows).exp();
    for (std::int64_t i = 0; i < first; ++i) p = p * rows.select(1, i).eq(double(i % 2));
    const at::Tensor codes = (drawn.values.to(at::kLong) * at::pow(2, at::arange(9, at::kLong))).sum(1);
    support::expect_frequencies(support::numbers(at::bincount(codes, {}, 512)), support::numbers(p / p.sum()));
  }
  at::Tensor gap = at::full({2, 9}, std::nan(""), at::kDouble);
  gap.select(1, 3).fill_(1);
  support::expect_mentions(support::message_of([&] { (void)net.complete(Key(5), gap); }), {"order", "3", "0"});
  gap[0][0] = 1;
  support::expect_mentions(support::message_of([&] { (void)net.complete(Key(5), gap); }), {"same known"});
}

TEST(PixelNet, BeginsWithTheFrequenciesOfTheData) {
  PixelNet net({.height = 1, .width = 3, .channels = 4, .blocks = 2, .attention = 1}, at::kDouble);
  initialize(net, Key(1), at::tensor({0.2, 0.5, 0.0}, at::kDouble));
  expect_close(net.log_probabilities(at::tensor({1.0, 0.0, 0.0}, at::kDouble).unsqueeze(0)).exp(),
               at::tensor({0.2 * 0.5 * 0.999}, at::kDouble), 1e-12);
}

TEST(PixelNet, PassesTheCheckOfCausalityAndALeakOfItDoesNot) {
  const PixelNet net = random_pixel_net({.height = 5, .width = 4, .channels = 6, .blocks = 2, .attention = 1});
  const auto sound = [&](const at::Tensor& rows) { return net.raw(net.parameters(), rows); };
  EXPECT_NO_THROW(require_causal(net.visible(), net.order(), sound, at::kDouble, Key(1)));
  // The picture turned around: every pixel then sees later ones.
  const auto turned = [&](const at::Tensor& rows) { return sound(rows.flip(1)).flip(1); };
  EXPECT_THROW(require_causal(net.visible(), net.order(), turned, at::kDouble, Key(1)), Error);
}

TEST(PixelNet, CountsTheMultiplicationsOfARow) {
  const PixelNet net({.height = 2, .width = 3, .channels = 4, .blocks = 1, .attention = 1});
  double weights = 0;
  for (const auto& [name, value] : net.parameters().entries())
    if (name.ends_with(".weights")) weights += static_cast<double>(value.numel());
  EXPECT_EQ(net.products(), 6 * (weights + 6 * (1 + 2)));
}

TEST(PixelNet, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { PixelNet({.kernel = 4}); }), {"kernel 4", "odd"});
  expect_mentions(message_of([] { PixelNet({.blocks = 2, .attention = 3}); }), {"3 of 2 blocks"});
  const PixelNet net({.height = 2, .width = 2, .channels = 2, .blocks = 1, .attention = 0});
  expect_mentions(message_of([&] { (void)net.log_probabilities(at::zeros({2, 5})); }), {"2 × 2", "5"});
}

}  // namespace
}  // namespace harmonium
