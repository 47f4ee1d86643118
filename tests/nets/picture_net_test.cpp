// Convolutions that halve pictures, their adjoints, and the nets made of them: pictures of odd and even sizes.
#include "harmonium/nets/picture_net.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

struct Size {
  std::int64_t rows, columns;
};
const std::vector<Size> sizes = {{1, 1}, {1, 4}, {2, 2}, {3, 5}, {6, 7}, {8, 8}, {7, 1}};

at::Tensor drawn_values(std::uint64_t seed, at::IntArrayRef shape) { return normal(Key(seed), shape, at::kDouble); }

template <class Net>
Moments drawn_of(const Net& net, double scale = 0.5) {
  Moments parameters;
  net.declare(parameters, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : parameters.entries())
    at::Tensor(value).copy_(scale * normal(Key(9).fold_in(i++), value.sizes(), at::kDouble));
  return parameters;
}

TEST(StridedConvolution, IsTheSumOfItsHeader) {
  using Way = StridedConvolution::Way;
  for (const Size& size : sizes) {
    SCOPED_TRACE(format("{} × {}", size.rows, size.columns));
    const StridedConvolution layer("s", 2, 3, Way::down);
    const Moments parameters = drawn_of(layer);
    const at::Tensor x = drawn_values(1, {2, 2, size.rows, size.columns}), &W = parameters["s.weights"];
    const at::Tensor found = layer.down(parameters, x);
    const std::int64_t rows = StridedConvolution::half(size.rows), columns = StridedConvolution::half(size.columns);
    ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{2, 3, rows, columns}));
    for (std::int64_t o = 0; o < 3; ++o)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = parameters["s.bias"][o].item<double>();
          for (std::int64_t c = 0; c < 2; ++c)
            for (std::int64_t r = 0; r < 3; ++r)
              for (std::int64_t s = 0; s < 3; ++s) {
                const std::int64_t a = 2 * i - 1 + r, b = 2 * j - 1 + s;
                if (a < 0 || b < 0 || a >= size.rows || b >= size.columns) continue;
                sum += (W[o][c][r][s] * x[1][c][a][b]).item<double>();
              }
          EXPECT_NEAR(found[1][o][i][j].item<double>(), sum, 1e-12);
        }
  }
}

// ⟨A x, y⟩ = ⟨x, Aᵀ y⟩ with the same weights, for every size a picture can have.
TEST(StridedConvolution, HasTheTransposedOneAsItsAdjoint) {
  using Way = StridedConvolution::Way;
  const StridedConvolution down("a", 2, 3, Way::down), up("a", 2, 3, Way::up);
  Moments forth = drawn_of(down), back;
  up.declare(back, at::kDouble);
  forth["a.bias"].zero_();
  back["a.weights"].copy_(forth["a.weights"]);
  for (const Size& size : sizes) {
    SCOPED_TRACE(format("{} × {}", size.rows, size.columns));
    const at::Tensor x = drawn_values(2, {4, 2, size.rows, size.columns});
    const at::Tensor forward = down.down(forth, x), y = drawn_values(3, forward.sizes());
    const at::Tensor backward = up.up(back, y, size.rows, size.columns);
    ASSERT_EQ(backward.sizes(), x.sizes());
    EXPECT_NEAR((forward * y).sum().item<double>(), (x * backward).sum().item<double>(), 1e-11);
    EXPECT_GT((forward * y).sum().abs().item<double>(), 1e-3) << "both could be nothing";
  }
  EXPECT_THROW((void)up.up(back, drawn_values(1, {1, 3, 2, 2}), 5, 4), Error);
  EXPECT_THROW((void)down.down(forth, drawn_values(1, {1, 3, 2, 2})), Error);
}

TEST(PictureNets, TakePicturesOfAnySizeAndAnyLeadingDimensions) {
  for (const Size& size : sizes)
    for (const std::int64_t halvings : {0, 1, 2}) {
      const PictureNetShape shape{
          .height = size.rows, .width = size.columns, .channels = 3, .blocks = 1, .halvings = halvings};
      if (!shape.complaint().empty()) continue;
      SCOPED_TRACE(format("{} × {}, {} halvings", size.rows, size.columns, halvings));
      const PictureEncoder encoder("encoder.", shape, 5);
      const PictureDecoder decoder("decoder.", shape, 4, 2);
      const Moments up = drawn_of(encoder), down = drawn_of(decoder);
      const at::Tensor rows = drawn_values(4, {3, 2, size.rows * size.columns}), codes = drawn_values(5, {3, 2, 4});
      const at::Tensor found = encoder.forward(up, rows), made = decoder.forward(down, codes);
      ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{3, 2, 5}));
      ASSERT_EQ(made.sizes(), (std::vector<std::int64_t>{3, 2, decoder.outputs()}));
      EXPECT_EQ(decoder.outputs(), size.rows * size.columns * 2);
      EXPECT_EQ(up[encoder.output_bias()].numel(), encoder.outputs());
      EXPECT_EQ(down[decoder.output_bias()].numel(), decoder.outputs());
      // A row is a function of itself alone.
      support::expect_close(encoder.forward(up, rows[1][1].unsqueeze(0)), found[1][1].unsqueeze(0), 1e-12);
      support::expect_close(decoder.forward(down, codes[2][0].unsqueeze(0)), made[2][0].unsqueeze(0), 1e-12);
    }
}

// By hand, without blocks: 2 × 2 pixels, one channel, one halving to a single place.
TEST(PictureNets, ComputeWhatTheirHeaderSays) {
  const PictureNetShape shape{.height = 2, .width = 2, .channels = 1, .blocks = 0, .halvings = 1};
  const PictureDecoder decoder("d.", shape, 1, 2);
  Moments p = drawn_of(decoder);
  const double z = 0.7;
  const at::Tensor h = at::elu(p["d.root.layer1.weights"][0][0] * z + p["d.root.layer1.bias"][0]);
  // Only the middle and the far side of the kernel reach pixels from the one place.
  at::Tensor wide = at::zeros({2, 2}, at::kDouble);
  for (std::int64_t a = 0; a < 2; ++a)
    for (std::int64_t b = 0; b < 2; ++b)
      wide[a][b] = p["d.scale1.step.weights"][0][0][a + 1][b + 1] * h + p["d.scale1.step.bias"][0];
  wide = at::elu(wide);
  const at::Tensor made = decoder.forward(p, at::full({1, 1}, z, at::kDouble)).view({2, 2, 2});
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t column = 0; column < 2; ++column) {
        double sum = p["d.output.bias"][(i * 2 + j) * 2 + column].item<double>();
        for (std::int64_t a = 0; a < 2; ++a)
          for (std::int64_t b = 0; b < 2; ++b)
            sum += (p["d.output.weights"][column][0][a - i + 1][b - j + 1] * wide[a][b]).item<double>();
        EXPECT_NEAR(made[i][j][column].item<double>(), sum, 1e-13) << "columns of a pixel stand side by side";
      }
}

TEST(PictureNets, CountTheirWeightsAndRefuseWhatCannotBeHalved) {
  const PictureNetShape shape{.height = 7, .width = 5, .channels = 4, .blocks = 2, .halvings = 2};
  const PictureEncoder encoder("e.", shape, 6);
  Moments parameters;
  encoder.declare(parameters, at::kFloat);
  double weights = 0;
  for (const auto& [name, value] : parameters.entries())
    if (name.ends_with(".weights") && !name.starts_with("e.head")) weights += static_cast<double>(value.numel());
  EXPECT_EQ(weights, shape.weights());
  EXPECT_EQ(shape.smallest(), 4 * 2 * 2);
  EXPECT_NE((PictureNetShape{.height = 4, .width = 4, .halvings = 3}).complaint(), "");
  EXPECT_EQ((PictureNetShape{.height = 4, .width = 1, .halvings = 2}).complaint(), "");
  EXPECT_THROW(PictureEncoder("e.", {.height = 0, .width = 3}, 1), Error);
}

}  // namespace
}  // namespace harmonium
