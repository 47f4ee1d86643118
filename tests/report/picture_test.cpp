#include "harmonium/report/picture.h"

#include <gtest/gtest.h>

#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/png.h"
#include "tests/report/temporary_folder.h"

namespace harmonium {
namespace {

using Pixel = std::vector<int>;

Pixel pixel(const Picture& picture, std::int64_t row, std::int64_t column) {
  const auto start = picture.pixels.begin() + (row * picture.width + column) * picture.channels;
  return {start, start + picture.channels};
}

TileOptions options_of(Colouring colouring, std::int64_t columns, std::int64_t zoom, std::int64_t gap) {
  TileOptions options;
  options.colouring = colouring;
  options.columns = columns;
  options.zoom = zoom;
  options.gap = gap;
  return options;
}

TEST(Picture, ATileGridHasGapsAroundAndBetweenEnlargedImages) {
  const Picture picture = tile_images(at::zeros({5, 6}), {2, 3}, options_of(Colouring::gray, 3, 4, 2));
  EXPECT_EQ(picture.height, 2 * (2 * 4 + 2) + 2);
  EXPECT_EQ(picture.width, 3 * (3 * 4 + 2) + 2);
  EXPECT_EQ(picture.channels, 1);
  EXPECT_EQ(picture.pixels.size(), static_cast<std::size_t>(picture.height * picture.width));
  EXPECT_EQ(pixel(picture, 0, 0), Pixel{128});    // the frame
  EXPECT_EQ(pixel(picture, 2, 2), Pixel{0});      // first pixel of the first image
  EXPECT_EQ(pixel(picture, 9, 13), Pixel{0});     // its last
  EXPECT_EQ(pixel(picture, 10, 13), Pixel{128});  // the gap below
  EXPECT_EQ(pixel(picture, 9, 14), Pixel{128});   // the gap to its right
  EXPECT_EQ(pixel(picture, 12, 30), Pixel{128});  // the sixth cell, which has no image
}

TEST(Picture, EachValueBecomesOneSharpSquareInReadingOrder) {
  const at::Tensor image = at::tensor({0.0, 0.25, 0.5, 1.0}).unsqueeze(0);
  const Picture picture = tile_images(image, {2, 2}, options_of(Colouring::gray, 1, 3, 0));
  for (std::int64_t row = 0; row < 6; ++row)
    for (std::int64_t column = 0; column < 6; ++column) {
      const std::vector<int> levels = {0, 64, 128, 255};
      EXPECT_EQ(pixel(picture, row, column), Pixel{levels[static_cast<std::size_t>(row / 3 * 2 + column / 3)]});
    }
}

TEST(Picture, ColoursAreThreeValuesOfEveryPixel) {
  const at::Tensor image = at::tensor({1.0, 0.0, 0.5, 1.0, 0.0, 0.0}).unsqueeze(0);  // red, green, blue of two pixels
  const Picture picture = tile_images(image, {1, 2}, options_of(Colouring::colours, 1, 1, 0));
  EXPECT_EQ(picture.channels, 3);
  EXPECT_EQ(pixel(picture, 0, 0), (Pixel{255, 128, 0}));
  EXPECT_EQ(pixel(picture, 0, 1), (Pixel{0, 255, 0}));
  EXPECT_THROW((void)tile_images(at::zeros({1, 4}), {1, 2}, options_of(Colouring::colours, 1, 1, 0)), Error);
}

TEST(Picture, SmallImagesAreEnlargedUntilTheyCanBeRead) {
  TileOptions options;
  options.gap = 0;
  EXPECT_EQ(tile_images(at::zeros({1, 64}), {8, 8}, options).width, 8 * 6);
  EXPECT_EQ(tile_images(at::zeros({1, 784}), {28, 28}, options).width, 28 * 2);
  EXPECT_EQ(tile_images(at::zeros({1, 128 * 128}), {128, 128}, options).width, 128);
}

TEST(Picture, AnAutomaticGridIsWiderThanHighAndHoldsEveryImage) {
  for (const std::int64_t count : {1, 2, 7, 10, 40, 100, 500}) {
    const Picture picture = tile_images(at::ones({count, 64}), {8, 8}, options_of(Colouring::gray, 0, 1, 0));
    EXPECT_GE(picture.width, picture.height) << count;
    const auto white = std::count(picture.pixels.begin(), picture.pixels.end(), 255);
    EXPECT_EQ(white, count * 64) << count;
  }
}

TEST(Picture, GrayValuesOutsideTheUnitIntervalAreClamped) {
  const Picture picture =
      tile_images(at::tensor({-3.0, 7.0}).unsqueeze(0), {1, 2}, options_of(Colouring::gray, 1, 1, 0));
  EXPECT_EQ(pixel(picture, 0, 0), Pixel{0});
  EXPECT_EQ(pixel(picture, 0, 1), Pixel{255});
}

TEST(Picture, RealValuesAreScaledBetweenGivenEnds) {
  TileOptions options = options_of(Colouring::gray, 1, 1, 0);
  options.black = -2;
  options.white = 8;
  const Picture picture = tile_images(at::tensor({-3.0, -2.0, 3.0, 8.0}).unsqueeze(0), {1, 4}, options);
  EXPECT_EQ(pixel(picture, 0, 0), Pixel{0});
  EXPECT_EQ(pixel(picture, 0, 1), Pixel{0});
  EXPECT_EQ(pixel(picture, 0, 2), Pixel{128});
  EXPECT_EQ(pixel(picture, 0, 3), Pixel{255});
}

TEST(Picture, WeightsAreWhiteAtZeroBlueBelowAndRedAbove) {
  const Picture picture =
      tile_images(at::tensor({-2.0, 0.0, 2.0}).unsqueeze(0), {1, 3}, options_of(Colouring::diverging, 1, 1, 0));
  ASSERT_EQ(picture.channels, 3);
  const Pixel negative = pixel(picture, 0, 0), positive = pixel(picture, 0, 2);
  EXPECT_EQ(pixel(picture, 0, 1), (Pixel{255, 255, 255}));
  EXPECT_GT(negative[2], negative[0] + 100);
  EXPECT_GT(positive[0], positive[2] + 100);
}

TEST(Picture, WeightsOfOppositeSignAreAboutEquallyDark) {
  const auto luma = [](const Pixel& p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; };
  for (const double size : {0.25, 0.5, 0.75, 1.0}) {
    const at::Tensor image = at::tensor({-size, size, 1.0, -1.0}).unsqueeze(0);
    const Picture picture = tile_images(image, {1, 4}, options_of(Colouring::diverging, 1, 1, 0));
    EXPECT_NEAR(luma(pixel(picture, 0, 0)), luma(pixel(picture, 0, 1)), 16) << size;
  }
}

TEST(Picture, EachFilterHasItsOwnScale) {
  const at::Tensor filters = at::tensor({0.001, -0.0005, 1000.0, -500.0}).reshape({2, 2});
  const Picture picture = tile_images(filters, {1, 2}, options_of(Colouring::diverging, 1, 1, 0));
  EXPECT_EQ(pixel(picture, 0, 0), pixel(picture, 1, 0));
  EXPECT_EQ(pixel(picture, 0, 1), pixel(picture, 1, 1));
}

TEST(Picture, AFilterOfZerosIsWhite) {
  const Picture picture = tile_images(at::zeros({1, 4}), {2, 2}, options_of(Colouring::diverging, 1, 1, 0));
  EXPECT_EQ(std::count(picture.pixels.begin(), picture.pixels.end(), 255), 12);
}

TEST(Picture, ValuesThatAreNotFiniteLookMissingAndDoNotSpoilTheScale) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor image = at::tensor({nan, infinity, 1.0, -1.0}).unsqueeze(0);
  const Picture spoiled = tile_images(image, {1, 4}, options_of(Colouring::diverging, 1, 1, 0));
  const Picture whole =
      tile_images(at::tensor({0.0, 0.0, 1.0, -1.0}).unsqueeze(0), {1, 4}, options_of(Colouring::diverging, 1, 1, 0));
  EXPECT_EQ(pixel(spoiled, 0, 0), (Pixel{196, 196, 196}));
  EXPECT_EQ(pixel(spoiled, 0, 1), (Pixel{196, 196, 196}));
  EXPECT_EQ(pixel(spoiled, 0, 2), pixel(whole, 0, 2));
  EXPECT_EQ(pixel(spoiled, 0, 3), pixel(whole, 0, 3));
}

TEST(Picture, BytesAndDoublesAndTransposedTablesAreAccepted) {
  const TileOptions options = options_of(Colouring::gray, 1, 1, 0);
  const at::Tensor bits = at::tensor({0, 1, 1, 0, 1, 1}).reshape({3, 2});
  const Picture expected = tile_images(bits.t().contiguous().to(at::kFloat), {1, 3}, options);
  EXPECT_EQ(tile_images(bits.t().to(at::kByte), {1, 3}, options).pixels, expected.pixels);
  EXPECT_EQ(tile_images(bits.to(at::kDouble).t(), {1, 3}, options).pixels, expected.pixels);
}

TEST(Picture, AWrongShapeIsRefusedWithBothSizes) {
  try {
    static_cast<void>(tile_images(at::zeros({3, 100}), {8, 8}));
    FAIL() << "100 values were put into 8 × 8";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("100 values per image do not fit into 8 × 8"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(tile_images(at::zeros({0, 64}), {8, 8})), Error);
  EXPECT_THROW(static_cast<void>(tile_images(at::zeros({64}), {8, 8})), Error);
}

TEST(Picture, AnAbsurdlyLargePictureIsRefusedBeforeItIsAllocated) {
  EXPECT_THROW(static_cast<void>(tile_images(at::zeros({1, 4}), {2, 2}, options_of(Colouring::gray, 1, 1 << 20, 0))),
               Error);
}

TEST(Picture, DataWithoutAShapeGetANearSquareThatHoldsThem) {
  const auto sides = [](std::int64_t n) {
    const ImageShape shape = near_square_shape(n);
    return std::pair(shape.height, shape.width);
  };
  EXPECT_EQ(sides(64), std::pair(std::int64_t{8}, std::int64_t{8}));
  EXPECT_EQ(sides(12), std::pair(std::int64_t{3}, std::int64_t{4}));
  EXPECT_EQ(sides(7), std::pair(std::int64_t{3}, std::int64_t{3}));
  EXPECT_EQ(sides(1), std::pair(std::int64_t{1}, std::int64_t{1}));
  for (std::int64_t n = 1; n <= 1000; ++n) {
    const auto [height, width] = sides(n);
    EXPECT_GE(height * width, n);
    EXPECT_LT(height * width - n, width) << "an empty row at " << n;
    EXPECT_LE(width, 2 * height + 1) << n;
  }
}

TEST(Picture, AWrittenPngHoldsTheSamePixels) {
  const testing::TemporaryFolder folder;
  const Picture picture = tile_images(at::linspace(0, 1, 64).unsqueeze(0), {8, 8});
  write_png(folder / "grid.png", picture);
  const GrayImage back = read_png(folder / "grid.png");
  EXPECT_EQ(back.height, picture.height);
  EXPECT_EQ(back.width, picture.width);
  EXPECT_EQ(back.pixels, picture.pixels);
}

TEST(Picture, ADataUriIsTheBase64OfThePng) {
  const Picture picture = tile_images(at::zeros({1, 4}), {2, 2});
  const std::string uri = to_data_uri(picture);
  // Every PNG begins with the same 8 bytes; base64 of the first 6 is fixed.
  EXPECT_EQ(uri.substr(0, 30), "data:image/png;base64,iVBORw0K");
  EXPECT_EQ((uri.size() - 22) % 4, 0U);
  const auto padding = static_cast<std::size_t>(std::count(uri.begin(), uri.end(), '='));
  const std::string png = encode_png(picture.pixels.data(), picture.height, picture.width, picture.channels);
  EXPECT_EQ((uri.size() - 22) / 4 * 3 - padding, png.size());
}

TEST(Picture, APictureWhosePixelsDoNotMatchItsSizeIsNotWritten) {
  EXPECT_THROW(static_cast<void>(to_data_uri({2, 2, 3, std::vector<std::uint8_t>(5)})), Error);
}

}  // namespace
}  // namespace harmonium
