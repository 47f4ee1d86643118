// Layers over pictures: convolutions, gated blocks and attention that look at earlier pixels alone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/nets/causal_attention.h"
#include "harmonium/nets/gated_residual.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

constexpr std::int64_t picture_height = 4, picture_width = 5;

template <class Layer>
Moments drawn_parameters(const Layer& layer, double scale = 1) {
  Moments parameters;
  layer.declare(parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : parameters.entries())
    at::Tensor(value).copy_(scale * normal(Key(4).fold_in(i++), value.sizes(), at::kDouble));
  return parameters;
}

at::Tensor drawn_picture(std::uint64_t seed, std::int64_t channels, std::int64_t rows = 2) {
  return normal(Key(seed), {rows, channels, picture_height, picture_width}, at::kDouble);
}

TEST(CausalConvolution, IsTheSumOfItsHeaderPixelByPixel) {
  constexpr Border border{.above = 2, .left = 1, .right = 1};
  const CausalConvolution layer("c", 2, 3, border);
  const Moments parameters = drawn_parameters(layer);
  const at::Tensor x = drawn_picture(1, 2), &W = parameters["c.weights"], &b = parameters["c.bias"];
  PicturePass pass(picture_height, picture_width);
  const at::Tensor found = layer.forward(parameters, x, pass);
  ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{2, 3, picture_height, picture_width}));
  EXPECT_EQ(layer.weights(), static_cast<double>(W.numel()));
  for (std::int64_t o = 0; o < 3; ++o)
    for (std::int64_t i = 0; i < picture_height; ++i)
      for (std::int64_t j = 0; j < picture_width; ++j) {
        double sum = b[o].item<double>();
        for (std::int64_t c = 0; c < 2; ++c)
          for (std::int64_t r = 0; r <= border.above; ++r)
            for (std::int64_t s = 0; s <= border.left + border.right; ++s) {
              const std::int64_t row = i - border.above + r, column = j - border.left + s;
              if (row < 0 || column < 0 || column >= picture_width) continue;
              sum += (W[o][c][r][s] * x[1][c][row][column]).item<double>();
            }
        EXPECT_NEAR(found[1][o][i][j].item<double>(), sum, 1e-12) << o << " " << i << " " << j;
      }
}

TEST(CausalConvolution, OfAKnownPictureMayLeaveOutItsOwnRowOrItsOwnPixel) {
  const CausalConvolution rows_above("r", 1, 1, {.above = 2, .below = -1, .left = 1, .right = 1}),
      to_the_left("l", 1, 1, {.left = 2, .right = -1});
  const at::Tensor x = drawn_picture(1, 1, 1);
  const PicturePass pass(picture_height, picture_width);
  const Moments of_rows = drawn_parameters(rows_above), of_left = drawn_parameters(to_the_left);
  ASSERT_EQ(of_rows["r.weights"].sizes(), (std::vector<std::int64_t>{1, 1, 2, 3}));
  ASSERT_EQ(of_left["l.weights"].sizes(), (std::vector<std::int64_t>{1, 1, 1, 2}));
  const auto seen_from = [&](const CausalConvolution& layer, const Moments& parameters, std::int64_t i,
                             std::int64_t j) {
    const at::Tensor leaf = x.clone().requires_grad_();
    layer.of_picture(parameters, leaf, pass)[0][0][i][j].backward();
    return leaf.grad()[0][0].ne(0);
  };
  at::Tensor expected = at::zeros({picture_height, picture_width}, at::kBool);
  expected.narrow(0, 0, 2).narrow(1, 2, 3).fill_(true);
  EXPECT_TRUE(at::equal(seen_from(rows_above, of_rows, 2, 3), expected));
  expected.zero_();
  expected[2].narrow(0, 1, 2).fill_(true);
  EXPECT_TRUE(at::equal(seen_from(to_the_left, of_left, 2, 3), expected));
}

TEST(GatedResidual, IsTheFormulaOfItsHeader) {
  constexpr std::int64_t channels = 3;
  const GatedResidual block("g", channels, {.above = 1, .left = 1}, /*has_side=*/true);
  const Moments parameters = drawn_parameters(block, 0.5);
  const at::Tensor x = drawn_picture(1, channels), side = drawn_picture(2, channels);
  PicturePass pass(picture_height, picture_width);
  const at::Tensor found = block.forward(parameters, x, side, pass);
  const auto convolved = [](const at::Tensor& values, const at::Tensor& W) {
    return at::conv2d(at::constant_pad_nd(values, {1, 0, 1, 0}), W);
  };
  const auto by_channel = [](const at::Tensor& bias) { return bias.view({1, -1, 1, 1}); };
  const at::Tensor inner = convolved(at::elu(x), parameters["g.first.weights"]) +
                           by_channel(parameters["g.first.bias"]) +
                           at::einsum("nchw,oc->nohw", {at::elu(side), parameters["g.side.weights"].squeeze()});
  const at::Tensor both =
      convolved(at::elu(inner), parameters["g.second.weights"]) + by_channel(parameters["g.second.bias"]);
  const at::Tensor expected = x + both.narrow(1, 0, channels) * both.narrow(1, channels, channels).sigmoid();
  EXPECT_LT((found - expected).abs().max().item<double>(), 1e-12);
  EXPECT_THROW((void)block.forward(parameters, x, {}, pass), Error);
}

// Softmax and sums in plain loops, over the pixel itself and those before it.
TEST(CausalAttention, LooksAtThePixelItselfAndEarlierOnesByTheWeightsOfItsHeader) {
  constexpr std::int64_t channels = 8, keys = 2, values = 4, pixels = picture_height * picture_width;
  const CausalAttention layer("a", channels);
  const Moments parameters = drawn_parameters(layer, 0.7);
  const at::Tensor x = drawn_picture(1, channels, 1);
  PicturePass pass(picture_height, picture_width);
  const at::Tensor found = layer.forward(parameters, x, pass)[0].reshape({channels, pixels});
  const at::Tensor flat = x[0].reshape({channels, pixels});
  const at::Tensor projected = parameters["a.input.weights"].view({2 * keys + values, channels}).mm(at::elu(flat)) +
                               parameters["a.input.bias"].unsqueeze(1);
  for (std::int64_t p = 0; p < pixels; ++p) {
    at::Tensor sum = at::zeros({values}, at::kDouble);
    double total = 0;
    for (std::int64_t k = 0; k <= p; ++k) {
      const at::Tensor query = projected.select(1, p).narrow(0, 0, keys),
                       key = projected.select(1, k).narrow(0, keys, keys);
      const double weight = std::exp(query.dot(key).item<double>() / std::sqrt(double(keys)));
      sum += weight * projected.select(1, k).narrow(0, 2 * keys, values);
      total += weight;
    }
    const at::Tensor out =
        parameters["a.output.weights"].view({2 * channels, values}).mv(sum / total) + parameters["a.output.bias"];
    const at::Tensor expected =
        flat.select(1, p) + out.narrow(0, 0, channels) * out.narrow(0, channels, channels).sigmoid();
    EXPECT_LT((found.select(1, p) - expected).abs().max().item<double>(), 1e-12) << p;
  }
}

// A walk's windows are another computation: values come from what was remembered, pixel by pixel.
TEST(PicturePass, InWindowsIsThePassOverTheWholePicture) {
  constexpr std::int64_t channels = 4;
  const GatedResidual block("g", channels, {.above = 2, .left = 1, .right = 1}, /*has_side=*/false);
  const GatedResidual corner("h", channels, {.above = 1, .left = 2}, /*has_side=*/true);
  const CausalAttention attention("a", channels);
  Moments parameters;
  for (const auto& each : {drawn_parameters(block, 0.5), drawn_parameters(corner, 0.5), drawn_parameters(attention)})
    for (const auto& [name, value] : each.entries()) parameters.insert(name, value);
  const at::Tensor x = drawn_picture(1, channels, 3);
  PicturePass whole(picture_height, picture_width), pieces(picture_height, picture_width);
  const at::Tensor above = block.forward(parameters, x, {}, whole),
                   expected = attention.forward(parameters, corner.forward(parameters, x, above, whole), whole);
  const auto check = [&](const Window& window, const at::Tensor& side) {
    pieces.move_to(window);
    const at::Tensor here = pieces.window_of(x),
                     found = attention.forward(parameters, corner.forward(parameters, here, side, pieces), pieces);
    EXPECT_LT((found - pieces.window_of(expected)).abs().max().item<double>(), 1e-12)
        << window.row << " " << window.column;
  };
  const auto rows = [&](std::int64_t row, std::int64_t count) {
    pieces.move_to({.row = row, .column = 0, .rows = count, .columns = picture_width});
    const at::Tensor found = block.forward(parameters, pieces.window_of(x), {}, pieces);
    EXPECT_LT((found - pieces.window_of(above)).abs().max().item<double>(), 1e-12) << row;
    return found;
  };
  check({.row = 0, .column = 0, .rows = 2, .columns = picture_width}, rows(0, 2));
  for (std::int64_t row = 2; row < picture_height; ++row) {
    const at::Tensor side = rows(row, 1);
    for (std::int64_t column = 0; column < picture_width; ++column)
      check({.row = row, .column = column, .rows = 1, .columns = 1}, side.narrow(3, column, 1));
  }
}

TEST(PicturePass, DropsTheShareThatItIsToldAndKeepsTheMean) {
  constexpr double share = 0.3;
  constexpr std::int64_t rows = 100, channels = 50, all = rows * channels * picture_height * picture_width;
  const at::Tensor ones = at::ones({rows, channels, picture_height, picture_width}, at::kDouble);
  PicturePass pass(picture_height, picture_width, share, Key(3)), again(picture_height, picture_width, share, Key(3));
  const at::Tensor one = pass.dropped(ones), other = pass.dropped(ones);
  // Binomial counts within 5.5 standard deviations: a false alarm in 10⁷.
  const double deviation = std::sqrt(share * (1 - share) * double(all));
  EXPECT_NEAR(one.eq(0).sum().item<double>(), share * double(all), 5.5 * deviation);
  EXPECT_TRUE(one.eq(0).logical_or((one - 1 / (1 - share)).abs().lt(1e-12)).all().item<bool>());
  EXPECT_FALSE(at::equal(one, other)) << "every layer has numbers of its own";
  EXPECT_TRUE(at::equal(again.dropped(ones), one)) << "the same key drops the same";
  PicturePass without(picture_height, picture_width);
  EXPECT_TRUE(at::equal(without.dropped(ones), ones));
}

TEST(PictureLayers, SayWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { PicturePass(0, 3); }), {"0 × 3"});
  expect_mentions(message_of([] { CausalConvolution("c", 0, 3); }), {"'c'", "0 and 3"});
  const CausalConvolution layer("c", 2, 3);
  PicturePass pass(picture_height, picture_width);
  expect_mentions(message_of([&] { (void)layer.forward(drawn_parameters(layer), drawn_picture(1, 4), pass); }),
                  {"'c'", "2 channels, not 4"});
}

}  // namespace
}  // namespace harmonium
