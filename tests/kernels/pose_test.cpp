#include "harmonium/kernels/pose.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_templates.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Translations up to ½, scales from ½ to 2 of either sign, shears and turns up to 1.
at::Tensor random_nice(at::IntArrayRef leading, std::uint64_t seed) {
  std::vector<std::int64_t> sizes(leading.begin(), leading.end());
  sizes.push_back(6);
  at::Tensor n = 2 * uniform(Key(seed), sizes, at::kDouble) - 1;
  n.narrow(-1, 0, 2).mul_(0.5);
  const at::Tensor s = n.narrow(-1, 2, 2).clone();
  n.narrow(-1, 2, 2).copy_((0.5 + 1.5 * s.abs()) * s.sign());
  return n;
}

at::Tensor square_of(const at::Tensor& matrix) {  // 2 × 3 → 3 × 3
  return at::cat({matrix, at::tensor({0.0, 0.0, 1.0}, at::kDouble).view({1, 3})});
}

at::Tensor rows_of(std::initializer_list<double> numbers) { return at::tensor(numbers, at::kDouble).view({3, 3}); }

TEST(Pose, IsTheProductOfItsFactorsInTheOrderInWhichTheyAct) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const at::Tensor n = random_nice({}, seed);
    const auto v = [&](int i) { return n[i].item<double>(); };
    const double c = std::cos(v(5)), s = std::sin(v(5));
    const at::Tensor to_middle = rows_of({1, 0, -0.5, 0, 1, -0.5, 0, 0, 1}),
                     back = rows_of({1, 0, 0.5, 0, 1, 0.5, 0, 0, 1}),
                     translate = rows_of({1, 0, -v(0), 0, 1, -v(1), 0, 0, 1}),
                     scale = rows_of({v(2), 0, 0, 0, v(3), 0, 0, 0, 1}),
                     shear = rows_of({1, v(4), 0, 0, 1, 0, 0, 0, 1}), turn = rows_of({c, -s, 0, s, c, 0, 0, 0, 1});
    const at::Tensor expected = back.mm(turn).mm(shear).mm(scale).mm(translate).mm(to_middle);
    support::expect_close(square_of(pose_matrix(n)), expected, 1e-12);
    EXPECT_NEAR(pose_determinant(pose_matrix(n)).item<double>(), v(2) * v(3), 1e-12);
  }
}

TEST(Pose, ComposesLikeMatricesAndRestChangesNothing) {
  const at::Tensor a = pose_matrix(random_nice({4}, 1)), b = pose_matrix(random_nice({4}, 2)),
                   c = pose_matrix(random_nice({4}, 3)), rest = pose_matrix(rest_pose(at::kDouble));
  support::expect_close(composed(composed(a, b), c), composed(a, composed(b, c)), 1e-12);
  support::expect_close(composed(a, rest), a, 1e-12);
  support::expect_close(composed(rest, a), a, 1e-12);
  support::expect_close(square_of(composed(a, b)[0]), square_of(a[0]).mm(square_of(b[0])), 1e-12);
}

TEST(Pose, HasTheDerivativesOfCentralDifferences) {
  const at::Tensor outer = random_nice({3}, 5), inner = random_nice({3}, 6),
                   weights = normal(Key(7), {3, 2, 3}, at::kDouble);
  const auto value = [&](const at::Tensor& o, const at::Tensor& i) {
    return (composed(pose_matrix(o), pose_matrix(i)) * weights).sum();
  };
  const at::Tensor o = outer.clone().requires_grad_(), i = inner.clone().requires_grad_();
  value(o, i).backward();
  for (const bool first : {true, false})
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t k = 0; k < 6; ++k) {
        const auto at_step = [&](double step) {
          at::Tensor moved = (first ? outer : inner).clone();
          moved[row][k] += step;
          return (first ? value(moved, inner) : value(outer, moved)).item<double>();
        };
        const double expected = (at_step(1e-6) - at_step(-1e-6)) / 2e-6;
        EXPECT_NEAR((first ? o : i).grad()[row][k].item<double>(), expected, 1e-7 * (1 + std::abs(expected)));
      }
}

// Translation acts first, so it moves what is drawn by whole pixels whatever the other numbers are.
TEST(Pose, MovesAPictureByWholePixelsWhenTranslated) {
  constexpr std::int64_t H = 12, W = 10;
  const Canvas canvas{H, W};
  const at::Tensor templates = uniform(Key(3), {1, 1, 5, 5}, at::kDouble), ones = at::ones({1, 1, 1}, at::kDouble);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    at::Tensor n = random_nice({1, 1}, seed);
    const auto picture = [&] {
      return contributions({.poses = pose_matrix(n), .intensities = ones, .templates = templates}, canvas).view({H, W});
    };
    const at::Tensor before = picture();
    n.select(2, 0) += 2.0 / W;
    n.select(2, 1) += 3.0 / H;
    support::expect_close(picture().narrow(0, 3, H - 3).narrow(1, 2, W - 2),
                          before.narrow(0, 0, H - 3).narrow(1, 0, W - 2), 1e-12);
  }
}

TEST(Pose, TurnsASquareByARightAngleExactly) {
  const at::Tensor templates = uniform(Key(3), {1, 1, 6, 6}, at::kDouble), ones = at::ones({1, 1, 1}, at::kDouble);
  at::Tensor n = rest_pose(at::kDouble);
  n[5] = M_PI / 2;
  const at::Tensor turned =
      contributions({.poses = pose_matrix(n).view({1, 1, 2, 3}), .intensities = ones, .templates = templates}, {6, 6});
  // The template's point (x, y) = (1 − y', x') of the picture's (x', y'): its columns become rows.
  support::expect_close(turned.view({6, 6}), at::rot90(templates[0][0], 1), 1e-12);
}

TEST(Pose, KeepsInkPositiveWithoutOverflow) {
  const at::Tensor x = at::tensor({-2.0, -0.3, 0.0, 0.3, 2.0}, at::kDouble);
  support::expect_close(nonnegative(x), (10 * x).exp().log1p() / 10, 1e-12);
  EXPECT_NEAR(nonnegative(at::zeros({}, at::kDouble)).item<double>(), 0.0693147, 1e-6);
  EXPECT_EQ(nonnegative(at::full({}, 1000.0, at::kFloat)).item<float>(), 1000.0F);
  EXPECT_NEAR(raw_of_nonnegative(nonnegative(at::full({}, 0.7, at::kDouble)).item<double>()), 0.7, 1e-12);
}

}  // namespace
}  // namespace harmonium
