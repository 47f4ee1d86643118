#include "harmonium/data/formats/make_dataset.h"

#include <limits>

#include "tests/files/support.h"

namespace harmonium {

TEST(MakeDataset, TakesZerosAndOnesForBits) {
  for (const auto type : {at::kByte, at::kBool, at::kInt, at::kLong, at::kFloat, at::kDouble}) {
    const Dataset data = make_dataset(at::tensor({0, 1, 1, 0}).view({2, 2}).to(type), "f");
    EXPECT_EQ(data.values.scalar_type(), at::kByte);
    EXPECT_EQ(data.scale, 1.0);
  }
}

TEST(MakeDataset, ScalesBytesBy255HoweverDarkTheyAre) {
  EXPECT_EQ(make_dataset(at::tensor({0, 2}, at::kByte).view({1, 2}), "f").scale, 1.0 / 255);
  EXPECT_EQ(make_dataset(at::tensor({0, 255}, at::kByte).view({1, 2}), "f").scale, 1.0 / 255);
}

TEST(MakeDataset, GuessesTheScaleOfOtherIntegersFromTheLargest) {
  const auto scale_of = [](int largest) { return make_dataset(at::tensor({0, largest}).view({1, 2}), "f").scale; };
  EXPECT_EQ(scale_of(16), 1.0 / 16);
  EXPECT_EQ(scale_of(17), 1.0 / 255);
  EXPECT_EQ(scale_of(255), 1.0 / 255);
  EXPECT_EQ(scale_of(256), 1.0);
  EXPECT_EQ(make_dataset(at::tensor({0, 16}, at::kByte).view({1, 2}), ValueRange::guess, "f").scale, 1.0 / 16);
}

TEST(MakeDataset, KeepsRealNumbersAsFloats) {
  const at::Tensor reals = at::tensor({-1.5, 0.25, 3.0, 300.0}).view({2, 2});
  const Dataset data = make_dataset(reals, "f");
  EXPECT_TRUE(data.values.equal(reals.to(at::kFloat)));
  EXPECT_EQ(data.scale, 1.0);
  EXPECT_EQ(make_dataset(at::tensor({0.5, 1.0}).view({1, 2}), "f").values.scalar_type(), at::kFloat);
}

TEST(MakeDataset, KnowsPicturesByThreeDimensionsOrASquareWidth) {
  const auto image_of = [](std::vector<std::int64_t> shape) {
    return make_dataset(at::zeros(shape, at::kByte), "f").image;
  };
  ASSERT_TRUE(image_of({5, 3, 2}).has_value());
  EXPECT_EQ(image_of({5, 3, 2})->height, 3);
  EXPECT_EQ(image_of({5, 3, 2})->width, 2);
  EXPECT_EQ(image_of({5, 784})->height, 28);
  EXPECT_EQ(image_of({5, 16})->width, 4);
  EXPECT_FALSE(image_of({5, 9}).has_value());
  EXPECT_FALSE(image_of({5, 785}).has_value());
  EXPECT_EQ(make_dataset(at::zeros({5, 3, 2}), "f").columns(), 6);
}

TEST(MakeDataset, RejectsValuesThatAreNotFiniteNamingRowAndColumn) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    const at::Tensor array = at::tensor({0.0, 1.0, 2.0, bad, 4.0, 5.0}).view({2, 3});
    expect_error([&] { (void)make_dataset(array, "f.npy"); }, {"f.npy", "row 2, column 1"});
  }
}

TEST(MakeDataset, RejectsShapesThatAreNoTable) {
  expect_error([] { (void)make_dataset(at::zeros({5}), "f.npy"); }, {"f.npy", "5", "labels?"});
  expect_error([] { (void)make_dataset(at::zeros({1, 2, 3, 4}), "f.npy"); }, {"f.npy", "1×2×3×4"});
  expect_error([] { (void)make_dataset(at::zeros({0, 4}), "f.npy"); }, {"f.npy", "empty"});
  expect_error([] { (void)make_dataset(at::zeros({4, 0, 3}), "f.npy"); }, {"f.npy", "empty"});
}

}  // namespace harmonium
