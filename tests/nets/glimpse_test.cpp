#include "harmonium/nets/glimpse.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harmonium/kernels/random.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_close;

constexpr std::int64_t glimpse_rows = 6;

at::Tensor places() { return 0.7 * normal(Key(1), {glimpse_rows, GlimpseShape::numbers}, at::kDouble); }

std::vector<GlimpseShape> glimpse_shapes() {
  return {{.height = 5, .width = 7, .size = 3}, {.height = 4, .width = 3, .size = 4}, {.height = 3, .width = 6}};
}

// One number at a time: exp and a sum, pixels and filters counted from one.
double plain_filter(const GlimpseShape& shape, const at::Tensor& place, bool columns, std::int64_t i, std::int64_t a) {
  const auto number = [&](std::int64_t which) { return place[which].item<double>(); };
  const auto pixels = static_cast<double>(columns ? shape.width : shape.height);
  const auto largest = static_cast<double>(std::max(shape.width, shape.height));
  const auto n = static_cast<double>(shape.size);
  const double g = (pixels + 1) * (number(columns ? 0 : 1) + 1) / 2, variance = std::exp(number(2));
  const double stride = shape.size == 1 ? 0 : (largest - 1) * std::exp(number(3)) / (n - 1);
  const double mu = g + (static_cast<double>(i) - n / 2 - 0.5) * stride;
  double total = 0;
  for (double b = 1; b <= pixels; ++b) total += std::exp(-(b - mu) * (b - mu) / (2 * variance));
  const double distance = static_cast<double>(a) - mu;
  return std::exp(-distance * distance / (2 * variance)) / total;
}

TEST(Glimpse, HasTheFiltersReadsAndWritesOfItsFormulas) {
  for (const GlimpseShape& shape : glimpse_shapes()) {
    const at::Tensor place = places();
    const Glimpse glimpse(shape, place);
    const std::int64_t n = shape.size, B = shape.height, A = shape.width;
    const at::Tensor pictures = normal(Key(2), {glimpse_rows, B * A}, at::kDouble),
                     patches = normal(Key(3), {glimpse_rows, n * n}, at::kDouble);
    at::Tensor over_rows = at::zeros({glimpse_rows, n, B}, at::kDouble),
               over_columns = at::zeros({glimpse_rows, n, A}, at::kDouble),
               read = at::zeros({glimpse_rows, n * n}, at::kDouble),
               written = at::zeros({glimpse_rows, B * A}, at::kDouble);
    for (std::int64_t row = 0; row < glimpse_rows; ++row) {
      const double gamma = std::exp(place[row][4].item<double>());
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t b = 0; b < B; ++b)
          over_rows[row][i][b] = plain_filter(shape, place[row], false, i + 1, b + 1);
        for (std::int64_t a = 0; a < A; ++a)
          over_columns[row][i][a] = plain_filter(shape, place[row], true, i + 1, a + 1);
      }
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t b = 0; b < B; ++b)
            for (std::int64_t a = 0; a < A; ++a) {
              const double weight = over_rows[row][i][b].item<double>() * over_columns[row][j][a].item<double>();
              read[row][i * n + j] += gamma * weight * pictures[row][b * A + a].item<double>();
              written[row][b * A + a] += weight * patches[row][i * n + j].item<double>() / gamma;
            }
    }
    expect_close(glimpse.over_rows(), over_rows, 1e-13);
    expect_close(glimpse.over_columns(), over_columns, 1e-13);
    expect_close(glimpse.read(pictures), read, 1e-13);
    expect_close(glimpse.write(patches), written, 1e-12);
  }
}

TEST(Glimpse, HasFiltersThatSumToOneWhereverTheyLie) {
  const GlimpseShape shape{.height = 5, .width = 7, .size = 3};
  at::Tensor place = places();
  place[0][0] = 40;    // far to the right
  place[1][1] = -40;   // far above
  place[2][2] = -100;  // points: kept within e^{-7}
  place[3][3] = 100;   // far apart
  place[4][2] = 100;   // all the same
  const Glimpse glimpse(shape, place);
  expect_close(glimpse.over_rows().sum(2), at::ones({glimpse_rows, 3}, at::kDouble), 1e-14);
  expect_close(glimpse.over_columns().sum(2), at::ones({glimpse_rows, 3}, at::kDouble), 1e-14);
  EXPECT_GT(glimpse.over_columns()[0].select(1, 6).min().item<double>(), 0.99) << "the nearest edge is seen";
  EXPECT_GT(glimpse.over_rows()[1].select(1, 0).min().item<double>(), 0.99);
  // What a picture of one gray shows is that gray times γ.
  const at::Tensor gray = glimpse.read(at::full({glimpse_rows, 35}, 0.3, at::kDouble));
  expect_close(gray, 0.3 * place.narrow(1, 4, 1).exp().expand({glimpse_rows, 9}), 1e-13);
}

TEST(Glimpse, AtZeroCentresAGridThatSpansTheLargerSide) {
  // Narrow filters: each sees the pixel in its middle.
  at::Tensor place = at::zeros({1, 5}, at::kDouble);
  place[0][2] = -6;
  const Glimpse glimpse({.height = 3, .width = 7, .size = 3}, place);
  expect_close(glimpse.over_columns()[0].argmax(1).to(at::kDouble), at::tensor({0.0, 3.0, 6.0}, at::kDouble), 0);
  expect_close(glimpse.over_rows()[0].argmax(1).to(at::kDouble), at::tensor({0.0, 1.0, 2.0}, at::kDouble), 0);
}

TEST(Glimpse, HasTheGradientOfDifferences) {
  const GlimpseShape shape{.height = 4, .width = 5, .size = 2};
  const at::Tensor pictures = normal(Key(4), {glimpse_rows, 20}, at::kDouble),
                   patches = normal(Key(5), {glimpse_rows, 4}, at::kDouble);
  const auto value = [&](const at::Tensor& place) {
    const Glimpse glimpse(shape, place);
    return (glimpse.read(pictures) * patches).sum() + (glimpse.write(patches) * pictures).square().sum();
  };
  const at::Tensor leaf = places().requires_grad_();
  value(leaf).backward();
  for (std::int64_t row = 0; row < glimpse_rows; ++row)
    for (std::int64_t i = 0; i < GlimpseShape::numbers; ++i) {
      constexpr double h = 1e-5;
      at::Tensor up = places(), down = places();
      up[row][i] += h;
      down[row][i] -= h;
      const double slope = (value(up) - value(down)).item<double>() / (2 * h);
      EXPECT_NEAR(leaf.grad()[row][i].item<double>(), slope, 1e-7 * (1 + std::abs(slope))) << row << " " << i;
    }
}

TEST(Glimpse, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { Glimpse({.height = 2, .width = 3, .size = 0}, at::zeros({1, 5})); }), {"0", "2 × 3"});
  expect_mentions(message_of([] { Glimpse({.height = 2, .width = 3, .size = 1}, at::zeros({1, 4})); }), {"5 numbers"});
}

}  // namespace
}  // namespace harmonium
