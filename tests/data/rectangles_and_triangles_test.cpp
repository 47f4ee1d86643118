#include "harmonium/data/rectangles_and_triangles.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

TEST(RectanglesAndTriangles, EveryPictureHoldsAWholeRectangleOutline) {
  // Some pair of rows and pair of columns, at least 2 apart, must be on along the whole outline.
  constexpr std::int64_t side = 10;
  const Dataset data = rectangles_and_triangles(30, Key(1), {.side = side});
  for (std::int64_t r = 0; r < data.rows(); ++r) {
    const at::Tensor picture = data.values[r].view({side, side});
    const auto on = picture.accessor<std::uint8_t, 2>();
    const auto row_is_on = [&](std::int64_t y, std::int64_t left, std::int64_t right) {
      for (std::int64_t x = left; x <= right; ++x)
        if (on[y][x] == 0) return false;
      return true;
    };
    const auto column_is_on = [&](std::int64_t x, std::int64_t top, std::int64_t bottom) {
      for (std::int64_t y = top; y <= bottom; ++y)
        if (on[y][x] == 0) return false;
      return true;
    };
    bool found = false;
    for (std::int64_t top = 0; top < side; ++top)
      for (std::int64_t bottom = top + 2; bottom < side; ++bottom)
        for (std::int64_t left = 0; left < side; ++left)
          for (std::int64_t right = left + 2; right < side; ++right)
            found = found || (row_is_on(top, left, right) && row_is_on(bottom, left, right) &&
                              column_is_on(left, top, bottom) && column_is_on(right, top, bottom));
    EXPECT_TRUE(found) << r;
  }
}

TEST(RectanglesAndTriangles, PixelsAreBitsAndNeitherFewNorMany) {
  const Dataset data = rectangles_and_triangles(200, Key(2));
  EXPECT_EQ(data.columns(), 784);
  EXPECT_TRUE(data.is_binary());
  const at::Tensor on = data.values.to(at::kLong).sum(1);
  // The smallest rectangle has 8 pixels; two outlines are never longer than a perimeter and three diagonals.
  EXPECT_GE(on.min().item<std::int64_t>(), 8);
  EXPECT_LE(on.max().item<std::int64_t>(), 4 * 27 + 3 * 28);
}

TEST(RectanglesAndTriangles, LookTheSameMirroredAndTurnedOnAverage) {
  // The generator treats the two axes and directions alike but for the rounding of slanted lines. Ink in the left and
  // right halves: their difference per picture has a deviation of at most the ink, about 90 pixels, so over n = 4000
  // pictures a mean beyond 4.5 · 90/√n ≈ 6.4 would be a false alarm with probability below 7e-6.
  constexpr std::int64_t n = 4000;
  const at::Tensor mean = rectangles_and_triangles(n, Key(3)).column_means().view({28, 28});
  const double left = mean.narrow(1, 0, 14).sum().item<double>(), right = mean.narrow(1, 14, 14).sum().item<double>();
  const double top = mean.narrow(0, 0, 14).sum().item<double>(), bottom = mean.narrow(0, 14, 14).sum().item<double>();
  const double tolerance = 4.5 * 90 / std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(left, right, tolerance);
  EXPECT_NEAR(top, bottom, tolerance);
  EXPECT_NEAR(top, left, tolerance);
}

TEST(RectanglesAndTriangles, ARowDependsOnTheKeyAndItsNumberAlone) {
  EXPECT_TRUE(
      at::equal(rectangles_and_triangles(5, Key(7)).values, rectangles_and_triangles(9, Key(7)).first(5).values));
  EXPECT_FALSE(at::equal(rectangles_and_triangles(5, Key(7)).values, rectangles_and_triangles(5, Key(8)).values));
}

TEST(RectanglesAndTriangles, RefusesPicturesWithNoRoom) {
  EXPECT_THROW((void)rectangles_and_triangles(5, Key(7), {.side = 3}), Error);
  EXPECT_EQ(rectangles_and_triangles(5, Key(7), {.side = 4}).columns(), 16);
}

}  // namespace
}  // namespace harmonium
